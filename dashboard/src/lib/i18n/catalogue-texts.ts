import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';

interface CatalogueTool {
  id: string;
  category: 'code' | 'agent';
  description: string;
  limitation?: string | undefined;
  by_hand: { steps: readonly string[] };
}

/** As the texts of the catalogue name what is filled in later. */
const placeholders = { base_url: '<base_url>', model: '<model>' };

/**
 * Puts what the catalogue says of a tool into the page's language: what it is, its limitation, the steps that its user has to do.
 * A tool that somebody added keeps the texts that they wrote.
 */
export function useCatalogueTexts(): <Tool extends CatalogueTool>(tool: Tool) => Tool {
  const { t } = useTranslation(['cliCode', 'cliAgents']);
  return useCallback(
    (tool) => {
      const { by_hand, category, description, id, limitation } = tool;
      const text = (name: string, defaultValue: string) =>
        category === 'code'
          ? t(`cliCode:tool.${id}.${name}`, { defaultValue, ...placeholders })
          : t(`cliAgents:tool.${id}.${name}`, { defaultValue, ...placeholders });
      return {
        ...tool,
        description: text('description', description),
        ...(limitation === undefined ? {} : { limitation: text('limitation', limitation) }),
        by_hand: { ...by_hand, steps: by_hand.steps.map((step, index) => text(`step${index + 1}`, step)) },
      };
    },
    [t],
  );
}
