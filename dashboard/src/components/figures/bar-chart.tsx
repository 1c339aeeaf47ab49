import { axisTicks } from '../../lib/format/axis.ts';
import { classNames } from '../layout/class-names.ts';

export interface ChartBar {
  key: string;
  /** Below the bar; not all are drawn where they would overlap. */
  label: string;
  /** What a reader of the screen hears and a pointer shows. */
  description: string;
  /** One for each series, from below. */
  values: readonly number[];
}

interface BarChartProps {
  /** What the chart shows, in a sentence. */
  label: string;
  bars: readonly ChartBar[];
  /** Names of the series, in the order of the values. */
  series: readonly { name: string; className: string }[];
  /** A value of the axis as text. */
  format(value: number): string;
  /** Opens what a bar stands for. */
  onOpen?(bar: ChartBar): void;
  /** The values are counted, so that there is nothing between two whole numbers. */
  counted?: boolean;
  height?: number;
}

const TICKS = 3;
const MOST_LABELS = 8;

/** Bars over time, stacked by series. */
export function BarChart(props: BarChartProps) {
  const { label, bars, series, format, onOpen, counted = false, height = 140 } = props;
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const ticks = axisTicks(Math.max(...totals, 0), TICKS, counted ? 1 : 0);
  const widest = Math.max(...ticks.map((tick) => format(tick).length));
  const top = ticks.at(-1) ?? 1;
  const every = Math.ceil(bars.length / MOST_LABELS);
  return (
    <figure aria-label={label}>
      {series.length > 1 && (
        <figcaption className="mb-4 flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
          {series.map(({ name, className }) => (
            <span key={name} className="inline-flex items-center gap-1.5">
              <span className={classNames('size-2.5 rounded-sm', className)} aria-hidden />
              {name}
            </span>
          ))}
        </figcaption>
      )}
      <div className="flex gap-2">
        <div
          className="relative min-w-6 shrink-0 text-end text-muted text-xs nums"
          style={{ height, width: `${widest}ch` }}
          aria-hidden
        >
          {ticks.map((tick) => (
            <span
              key={tick}
              className="absolute end-0 -translate-y-1/2 whitespace-nowrap"
              style={{ bottom: `${(tick / top) * 100}%`, transform: 'translateY(50%)' }}
            >
              {format(tick)}
            </span>
          ))}
        </div>
        <div className="min-w-0 flex-1">
          <div className="relative flex items-end gap-px border-line border-b" style={{ height }}>
            {ticks.map((tick) => (
              <div
                key={tick}
                aria-hidden
                className="pointer-events-none absolute inset-x-0 border-line/60 border-t"
                style={{ bottom: `${(tick / top) * 100}%` }}
              />
            ))}
            {bars.map((bar) => (
              <Bar key={bar.key} bar={bar} top={top} series={series} onOpen={onOpen} />
            ))}
          </div>
          <div className="relative mt-1 h-4 overflow-x-clip text-muted text-xs nums" aria-hidden>
            {bars.map(({ key, label: text }, index) =>
              index % every === 0 ? (
                <span
                  key={key}
                  className={classNames(
                    'absolute whitespace-nowrap',
                    // There is room for half of them on a narrow screen.
                    (index / every) % 2 === 1 && 'max-sm:hidden',
                    // It would lie on the one before there.
                    index / bars.length > LAST_LABELS && 'max-sm:hidden',
                  )}
                  style={labelPlace(index, bars.length)}
                >
                  {text}
                </span>
              ) : null,
            )}
          </div>
        </div>
      </div>
    </figure>
  );
}

/** From this share of the width on a label ends with the chart, so that it neither sticks out nor lies on the one before. */
const LAST_LABELS = 0.8;

function labelPlace(index: number, count: number) {
  const start = index / count;
  if (start > LAST_LABELS) return { insetInlineEnd: 0 };
  return { insetInlineStart: `${start * 100}%` };
}

function Bar({
  bar,
  top,
  series,
  onOpen,
}: {
  bar: ChartBar;
  top: number;
  series: BarChartProps['series'];
  onOpen: BarChartProps['onOpen'];
}) {
  const parts = bar.values.map((value, index) => (
    <div
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place among the series.
      key={index}
      className={classNames('w-full', series[index]?.className)}
      style={{ height: `${(value / top) * 100}%` }}
    />
  ));
  const look = 'relative flex h-full min-w-0 flex-1 flex-col-reverse rounded-t-sm';
  if (onOpen === undefined)
    return (
      <div role="img" aria-label={bar.description} title={bar.description} className={look}>
        {parts}
      </div>
    );
  return (
    <button
      type="button"
      aria-label={bar.description}
      title={bar.description}
      onClick={() => onOpen(bar)}
      className={classNames(look, 'hover:bg-sunken')}
    >
      {parts}
    </button>
  );
}
