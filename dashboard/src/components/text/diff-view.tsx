import { classNames } from '../layout/class-names.ts';

/** A unified diff, its lines told apart by their sign and by color. */
export function DiffView({ diff }: { diff: string }) {
  return (
    <pre
      className="max-h-96 overflow-auto rounded-md border border-line bg-sunken py-2 font-mono text-xs leading-relaxed"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
      tabIndex={0}
    >
      {diff.split('\n').map((line, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have no other identity.
          key={index}
          className={classNames(
            'px-3',
            line.startsWith('+') && !line.startsWith('+++') && 'bg-ok-soft text-ok',
            line.startsWith('-') && !line.startsWith('---') && 'bg-bad-soft text-bad',
            line.startsWith('@@') && 'text-muted',
          )}
        >
          {line === '' ? ' ' : line}
        </div>
      ))}
    </pre>
  );
}
