import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import type { Prompt } from '../../lib/wire-formats/formats.ts';
import type { FormatName } from '../../lib/wire-formats/names.ts';
import { type SnippetKind, snippet, snippetKinds } from '../../lib/wire-formats/snippets.ts';

/** The request of the playground as a command and as code. */
export function CodeDialog({
  format,
  prompt,
  onClose,
}: {
  format: FormatName;
  prompt: Prompt;
  onClose(): void;
}) {
  const { t } = useTranslation('playground');
  const [kind, setKind] = useState<SnippetKind>('curl');
  return (
    <Dialog open wide onClose={onClose} title={t('code.title')} description={t('code.key')}>
      <fieldset aria-label={t('code.title')} className="mb-2 flex flex-wrap gap-1">
        {snippetKinds.map((one) => (
          <Button
            key={one}
            aria-pressed={kind === one}
            variant={kind === one ? 'secondary' : 'quiet'}
            onClick={() => setKind(one)}
          >
            {t(`code.${one}`)}
          </Button>
        ))}
      </fieldset>
      <div className="pb-4">
        <CodeBlock code={snippet(kind, format, prompt)} />
      </div>
    </Dialog>
  );
}
