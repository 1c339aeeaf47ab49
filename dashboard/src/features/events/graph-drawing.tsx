import { Link } from '@tanstack/react-router';
import { AlertTriangle, Inbox, Pause } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { classNames } from '../../components/layout/class-names.ts';
import { useFlowText } from './flow-text.ts';
import type { Graph, GraphEdge, GraphNode, NodeKind } from './graph.ts';

const columns: readonly NodeKind[] = ['source', 'channel', 'trigger'];
const WIDTH = 200;
const HEIGHT = 64;
const GAP_X = 190;
const GAP_Y = 28;
const HEAD = 30;

interface Place {
  x: number;
  y: number;
}

/** Three columns with curves between them. Everything in it can be reached by keyboard, and is in the table too. */
export function GraphDrawing({ graph: { edges, nodes } }: { graph: Graph }) {
  const { t } = useTranslation('events');
  const flowText = useFlowText();
  const most = Math.max(...columns.map((kind) => nodes.filter((node) => node.kind === kind).length));
  const height = HEAD + most * (HEIGHT + GAP_Y);
  const width = 3 * WIDTH + 2 * GAP_X;
  const places = new Map<string, Place>();
  for (const [column, kind] of columns.entries()) {
    const members = nodes.filter((node) => node.kind === kind);
    const top = HEAD + ((most - members.length) * (HEIGHT + GAP_Y)) / 2;
    members.forEach(({ key }, index) => {
      places.set(key, { x: column * (WIDTH + GAP_X), y: top + index * (HEIGHT + GAP_Y) });
    });
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section aria-label={t('map.label')} className="overflow-x-auto p-4" tabIndex={0}>
      <div className="relative mx-auto" style={{ width, height }}>
        {columns.map((kind, column) => (
          <p
            key={kind}
            className="absolute top-0 font-medium text-muted text-xs"
            style={{ left: column * (WIDTH + GAP_X), width: WIDTH }}
          >
            {t(`kind.${kind}.many`)}
          </p>
        ))}
        <svg width={width} height={height} className="absolute inset-0" aria-hidden>
          {edges.map((edge) => (
            <Curve key={edge.key} edge={edge} from={places.get(edge.from)} to={places.get(edge.to)} />
          ))}
        </svg>
        {edges.map((edge) => {
          const from = places.get(edge.from);
          const to = places.get(edge.to);
          if (from === undefined || to === undefined) return null;
          return (
            <p
              key={edge.key}
              title={[edge.problem, ...edge.filters].filter((one) => one !== null).join('\n') || undefined}
              className={classNames(
                'nums absolute -translate-x-1/2 -translate-y-1/2 rounded border border-line bg-panel px-1.5 text-center text-xs',
                edge.problem !== null && 'border-bad text-bad',
              )}
              style={{
                left: (from.x + WIDTH + to.x) / 2,
                top: (from.y + to.y + HEIGHT) / 2,
                maxWidth: GAP_X - 16,
              }}
            >
              {flowText(edge)}
              {edge.filters.length > 0 && (
                <span className="block truncate text-muted">{edge.filters[0]}</span>
              )}
            </p>
          );
        })}
        {nodes.map((node) => (
          <NodeBox key={node.key} node={node} place={places.get(node.key)} />
        ))}
      </div>
    </section>
  );
}

function Curve({ edge, from, to }: { edge: GraphEdge; from: Place | undefined; to: Place | undefined }) {
  if (from === undefined || to === undefined) return null;
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const middle = (x1 + x2) / 2;
  return (
    <path
      d={`M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`}
      fill="none"
      strokeWidth={(edge.rate ?? 0) > 0 ? 2.5 : 1.5}
      strokeDasharray={edge.problem === null ? undefined : '6 4'}
      stroke={edge.problem !== null ? 'var(--bad)' : (edge.rate ?? 0) > 0 ? 'var(--accent)' : 'var(--muted)'}
    />
  );
}

function NodeBox({ node, place }: { node: GraphNode; place: Place | undefined }) {
  const { t } = useTranslation('events');
  if (place === undefined) return null;
  const { deadLetters, id, paused, problem, type } = node;
  return (
    <div
      title={problem ?? undefined}
      className={classNames(
        'absolute flex flex-col justify-center rounded-lg border bg-panel px-3',
        problem === null ? 'border-line' : 'border-bad',
      )}
      style={{ left: place.x, top: place.y, width: WIDTH, height: HEIGHT }}
    >
      <p className="flex items-center gap-1.5 font-medium">
        {paused ? (
          <Pause size={14} className="shrink-0 text-warn" aria-label={t('map.paused')} />
        ) : (
          problem !== null && (
            <AlertTriangle size={14} className="shrink-0 text-bad" aria-label={t('map.problem')} />
          )
        )}
        <span className="truncate">{id}</span>
      </p>
      <p className="flex items-center justify-between gap-2 text-muted text-xs">
        <span className="truncate">{type ?? ''}</span>
        {deadLetters > 0 && (
          <Link
            to="/events"
            search={{ view: 'letters', trigger: id }}
            className="inline-flex shrink-0 items-center gap-1 text-bad underline"
          >
            <Inbox size={13} aria-hidden />
            {t('map.deadLetters', { count: deadLetters })}
          </Link>
        )}
      </p>
    </div>
  );
}
