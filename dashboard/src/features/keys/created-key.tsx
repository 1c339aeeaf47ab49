import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { SelectField } from '../../components/controls/field.tsx';
import { CreatedSecret } from '../../components/dialogs/created-secret.tsx';
import { ByHand } from '../../components/text/by-hand.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { useApi } from '../../lib/api/client.ts';
import { gatewayUrl } from '../../lib/base-path.ts';
import { useCatalogueTexts } from '../../lib/i18n/catalogue-texts.ts';
import type { NewKey } from './key-form.tsx';
import { keyToolsQuery } from './queries.ts';

/** How programs that follow a vendor's convention take the address and the key. */
const conventions = {
  openai: (root: string, key: string) => `export OPENAI_BASE_URL=${root}/v1\nexport OPENAI_API_KEY=${key}`,
  anthropic: (root: string, key: string) =>
    `export ANTHROPIC_BASE_URL=${root}\nexport ANTHROPIC_AUTH_TOKEN=${key}`,
  gemini: (root: string, key: string) =>
    `export GOOGLE_GEMINI_BASE_URL=${root}\nexport GEMINI_API_KEY=${key}`,
  curl: (root: string, key: string) =>
    `curl ${root}/v1/chat/completions \\\n  -H 'authorization: Bearer ${key}' \\\n  -H 'content-type: application/json' \\\n  -d '{"model":"demo/echo","messages":[{"role":"user","content":"hello"}]}'`,
} as const;

type Convention = keyof typeof conventions;

/** The text of a new key, which is shown this once, and how to use it. */
export function CreatedKey({ made, onClose }: { made: NewKey; onClose(): void }) {
  const { t } = useTranslation('keys');
  const [shown, setShown] = useState<Convention>('openai');
  const [toolId, setToolId] = useState('');
  const inLanguage = useCatalogueTexts();
  const tools = (useQuery(keyToolsQuery(useApi())).data?.resources ?? [])
    .filter(({ baseUrlSupport }) => baseUrlSupport !== 'none')
    .toSorted((a, b) => Number(b.installed) - Number(a.installed));
  const tool = tools.find(({ id }) => id === toolId);
  return (
    <CreatedSecret
      title={t('created.title', { name: made.name })}
      description={t('created.once')}
      secret={made.key}
      stored={t('created.done')}
      onClose={onClose}
    >
      <div>
        <fieldset aria-label={t('created.use')} className="mb-2 flex flex-wrap gap-1">
          {(Object.keys(conventions) as Convention[]).map((name) => (
            <Button
              key={name}
              aria-pressed={shown === name}
              variant={shown === name ? 'secondary' : 'quiet'}
              onClick={() => setShown(name)}
            >
              {t(`convention.${name}`)}
            </Button>
          ))}
        </fieldset>
        <CodeBlock code={conventions[shown](gatewayUrl(), made.key)} />
      </div>
      <SelectField
        label={t('created.tool')}
        value={toolId}
        onChange={(event) => setToolId(event.target.value)}
        choices={[
          { value: '', label: t('created.noTool') },
          ...tools.map(({ id, installed, name }) => ({
            value: id,
            label: installed ? t('created.installed', { name }) : name,
          })),
        ]}
      />
      {tool !== undefined && (
        <ByHand tool={inLanguage(tool)} values={{ root: gatewayUrl(), apiKey: made.key, model: 'auto' }} />
      )}
    </CreatedSecret>
  );
}
