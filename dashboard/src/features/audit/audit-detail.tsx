import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { AuditRecord } from './queries.ts';

/** One record whole: who, from where, what was asked for, and what it was before and after. */
export function AuditDetail({ record }: { record: AuditRecord }) {
  const { t } = useTranslation('audit');
  const { actor, after, before, input } = record;
  const facts: readonly [string, ReactNode][] = [
    [t('column.time'), <RelativeTime key="time" at={record.time} />],
    [t('column.outcome'), <OutcomeBadge key="outcome" record={record} />],
    [t('detail.reason'), record.reason],
    [t('column.who'), actor.name],
    [t('detail.role'), actor.role],
    [t('detail.via'), t(`via.${actor.via}`)],
    [t('detail.token'), actor.token_id],
    [t('column.from'), record.address],
    [t('column.target'), record.target],
    [t('detail.request'), record.request_id],
    [t('detail.number'), record.seq],
    [t('detail.hash'), <code key="hash">{record.hash}</code>],
  ];
  const bodies: readonly [string, Record<string, unknown> | null][] = [
    [t('detail.input'), input],
    [t('detail.before'), before],
    [t('detail.after'), after],
  ];
  return (
    <div className="flex flex-col gap-5">
      <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-1.5">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0 [overflow-wrap:anywhere]">{value}</dd>
            </div>
          ),
        )}
      </dl>
      {bodies.map(([name, body]) =>
        body === null ? null : (
          <section key={name}>
            <h3 className="mb-1 font-semibold text-sm">{name}</h3>
            <CodeBlock code={JSON.stringify(body, null, 2)} />
          </section>
        ),
      )}
    </div>
  );
}
