import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { compile } from '../../../../src/events/cesql/cesql.ts';

/** Whether a text is an expression; an empty one lets everything pass. */
export function isCesql(text: string): boolean {
  return text.trim() === '' || compile(text).ok;
}

interface CesqlBoxProps {
  value: string;
  onChange(value: string): void;
}

/** A field for a CESQL expression that says where it is wrong, and what is seldom meant, while it is typed. */
export function CesqlBox({ value, onChange }: CesqlBoxProps) {
  const { t } = useTranslation('events');
  const id = useId();
  const compiled = value.trim() === '' ? null : compile(value);
  const problems = compiled === null ? [] : compiled.ok ? compiled.expression.warnings : [compiled.error];
  const wrong = compiled !== null && !compiled.ok;
  return (
    <div className="min-w-0 flex-1">
      <label htmlFor={id} className="font-medium text-sm">
        {t('tail.cesql')}
      </label>
      <input
        id={id}
        type="text"
        spellCheck={false}
        autoComplete="off"
        placeholder="type LIKE 'io.modelgate.request.%'"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-invalid={wrong || undefined}
        aria-describedby={`${id}-problems`}
        className="mt-1 min-h-9 w-full rounded-md border border-line bg-panel px-2.5 font-mono text-xs aria-invalid:border-bad"
      />
      <div id={`${id}-problems`} aria-live="polite" className="mt-1 text-xs">
        {problems.map(({ message, position: { column, end, offset } }) => (
          <div key={`${offset} ${message}`} className={wrong ? 'text-bad' : 'text-warn'}>
            <p>{t('tail.at', { column, message })}</p>
            {/* The place, marked in a copy of the text: a field of text cannot mark a part of itself. */}
            <pre className="overflow-x-auto whitespace-pre font-mono text-text">
              {value.slice(0, offset)}
              <mark className="bg-bad-soft text-bad underline decoration-wavy">
                {value.slice(offset, Math.max(end, offset + 1)) || ' '}
              </mark>
              {value.slice(Math.max(end, offset + 1))}
            </pre>
          </div>
        ))}
      </div>
    </div>
  );
}
