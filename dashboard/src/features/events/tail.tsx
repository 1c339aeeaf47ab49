import { Pause, Play, Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { useApi } from '../../lib/api/client.ts';
import { ApiError } from '../../lib/api/error.ts';
import { serverEvents } from '../../lib/live.ts';
import { CesqlBox, isCesql } from './cesql-box.tsx';

/** An event as the tail shows it. */
interface TailedEvent {
  /** Counts the events of this page. */
  nth: number;
  source_id: string;
  result: string;
  event: Record<string, unknown>;
}

type TailState = { kind: 'open' | 'connecting' | 'lost' | 'paused' } | { kind: 'refused'; error: unknown };

const MOST = 200;
const TYPING_MS = 400;
const AGAIN_MS = 3_000;

/** Events as sources publish them, from now on, that fit an expression. */
export function Tail({ cesql, onCesql }: { cesql: string; onCesql(cesql: string): void }) {
  const { t } = useTranslation('events');
  const [text, setText] = useState(cesql);
  const [paused, setPaused] = useState(false);
  const [events, setEvents] = useState<readonly TailedEvent[]>([]);
  const valid = isCesql(text);
  useEffect(() => {
    if (!valid || text === cesql) return;
    const timer = setTimeout(() => onCesql(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, valid, cesql, onCesql]);
  const state = useTail(cesql, paused || !isCesql(cesql), (event) =>
    setEvents((all) => [{ ...event, nth: (all[0]?.nth ?? 0) + 1 }, ...all].slice(0, MOST)),
  );
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-start gap-3">
        <CesqlBox value={text} onChange={setText} />
        <div className="flex gap-2 pt-6">
          <Button icon={paused ? Play : Pause} onClick={() => setPaused(!paused)}>
            {t(paused ? 'tail.resume' : 'tail.pause')}
          </Button>
          <Button onClick={() => setEvents([])}>{t('tail.clear')}</Button>
        </div>
      </div>
      {state.kind === 'refused' && <ErrorNotice error={state.error} />}
      <Panel
        flush
        title={t('tail.title')}
        actions={
          <span role="status">
            <StatusBadge tone={state.kind === 'open' ? 'ok' : state.kind === 'lost' ? 'bad' : 'pending'}>
              {t(`tail.state.${state.kind}`)}
            </StatusBadge>
          </span>
        }
      >
        {events.length === 0 ? (
          <EmptyState icon={Radio} title={t('tail.none')}>
            {t('tail.noneNext')}
          </EmptyState>
        ) : (
          <ul>
            {events.map((tailed) => (
              <TailLine key={tailed.nth} tailed={tailed} />
            ))}
          </ul>
        )}
      </Panel>
    </div>
  );
}

function TailLine({ tailed: { event, result, source_id } }: { tailed: TailedEvent }) {
  const { t } = useTranslation('events');
  const time = typeof event['time'] === 'string' ? event['time'] : null;
  return (
    <li className="border-line border-b last:border-b-0">
      <details>
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 hover:bg-sunken">
          <code className="min-w-0 text-xs [overflow-wrap:anywhere]">{String(event['type'])}</code>
          <span className="text-muted text-xs">
            {source_id}
            {typeof event['subject'] === 'string' && ` · ${event['subject']}`}
          </span>
          <span className="ms-auto flex items-center gap-2 text-muted text-xs">
            {t(`result.${result}`, { defaultValue: result })}
            <RelativeTime at={time} never="–" />
          </span>
        </summary>
        <div className="px-4 pb-3">
          <CodeBlock code={JSON.stringify(event, null, 2)} />
        </div>
      </details>
    </li>
  );
}

/** Watches the events; a stream that was lost is opened again. */
function useTail(
  cesql: string,
  paused: boolean,
  onEvent: (event: Omit<TailedEvent, 'nth'>) => void,
): TailState {
  const api = useApi();
  const [state, setState] = useState<TailState>({ kind: 'connecting' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener only adds to what is shown.
  useEffect(() => {
    if (paused) {
      setState({ kind: 'paused' });
      return;
    }
    const ending = new AbortController();
    const { signal } = ending;
    const watch = async () => {
      setState({ kind: 'connecting' });
      while (!signal.aborted) {
        try {
          const response = await api.open('events/tail', {
            signal,
            headers: { accept: '*/*' },
            ...(cesql.trim() === '' ? {} : { query: { cesql } }),
          });
          setState({ kind: 'open' });
          for await (const { data, event } of serverEvents(response))
            if (event === 'event') onEvent(JSON.parse(data));
        } catch (error) {
          if (signal.aborted) return;
          if (error instanceof ApiError && error.status >= 400 && error.status < 500)
            return setState({ kind: 'refused', error });
        }
        if (signal.aborted) return;
        setState({ kind: 'lost' });
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    };
    void watch();
    return () => ending.abort();
  }, [api, cesql, paused]);
  return state;
}
