import { CopyButton } from '../controls/copy-button.tsx';

/** Text to copy: a command, a key, a file. */
export function CodeBlock({ code, copy = code }: { code: string; copy?: string }) {
  return (
    <div className="flex items-start gap-1 rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <pre className="min-w-0 flex-1 overflow-x-auto p-3 font-mono text-xs leading-relaxed" tabIndex={0}>
        {code}
      </pre>
      <div className="p-1.5">
        <CopyButton text={copy} />
      </div>
    </div>
  );
}
