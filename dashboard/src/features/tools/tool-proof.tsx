import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Tool } from './queries.ts';

interface Proof {
  passed: boolean;
  answered: boolean;
  model: string | null;
  request_id: string | null;
  checks: { name: string; status: 'ok' | 'warn' | 'fail'; message: string }[];
}

const tones: Readonly<Record<Proof['checks'][number]['status'], Tone>> = {
  ok: 'ok',
  warn: 'warn',
  fail: 'bad',
};

interface ToolProofProps {
  tool: Tool;
  /** The text of a gateway key; empty for the tool's own. */
  apiKey: string;
  /** Empty for the tool's own. */
  model: string;
}

/** Sends a real request as the tool does, the whole way to a model, and shows what came of it. */
export function ToolProof({ apiKey, model, tool }: ToolProofProps) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const prove = useMutation({
    mutationFn: async () => {
      const { result } = await api.post<{ result: Proof }>(`tools/${encodeURIComponent(tool.id)}`, {
        action: 'test',
        ...(model.trim() === '' ? {} : { model: model.trim() }),
        ...(apiKey.trim() === '' ? {} : { api_key: apiKey.trim() }),
      });
      return result;
    },
  });
  return (
    <Panel
      title={t('proof.title')}
      actions={
        <Button
          busy={prove.isPending}
          disabledReason={
            allows(tool, 'test') ? null : t('common:needsRole', { role: t('common:role.admin') })
          }
          onClick={() => prove.mutate()}
        >
          {t('proof.send')}
        </Button>
      }
    >
      <p className="text-muted">{t('proof.about', { name: tool.name })}</p>
      {prove.isError && <ErrorNotice error={prove.error} />}
      {prove.data !== undefined && (
        <div role="status" className="mt-3 flex flex-col gap-2">
          <p className="flex flex-wrap items-center gap-2">
            <StatusBadge tone={prove.data.passed ? 'ok' : prove.data.answered ? 'warn' : 'bad'}>
              {t(
                prove.data.passed
                  ? 'proof.passed'
                  : prove.data.answered
                    ? 'proof.answeredOnly'
                    : 'proof.failed',
              )}
            </StatusBadge>
            {prove.data.request_id !== null && (
              <Link
                to="/requests/$requestId"
                params={{ requestId: prove.data.request_id }}
                className="text-accent underline"
              >
                {t('proof.request')}
              </Link>
            )}
          </p>
          <ul className="flex flex-col gap-1.5">
            {prove.data.checks.map(({ message, name, status }) => (
              <li key={name} className="flex flex-wrap items-baseline gap-x-2">
                <StatusBadge tone={tones[status]}>{t(`proof.check.${name}`)}</StatusBadge>
                <span className="min-w-0 [overflow-wrap:anywhere]">{message}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Panel>
  );
}
