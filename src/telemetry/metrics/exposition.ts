import type { HistogramFamily, HistogramPoint, Labels, MetricFamily } from './family.ts';

/** A text format that Prometheus reads, and how HTTP names it. */
export interface Exposition {
  readonly contentType: string;
  write(families: readonly MetricFamily[]): string;
}

/** The text format that every Prometheus reads (prometheus.io/docs/instrumenting/exposition_formats). */
const prometheusText: Exposition = {
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  write: (families) => families.map((family) => writeFamily(family, prometheusHead)).join(''),
};

/** OpenMetrics 1.0 (prometheus.io/docs/specs/om/open_metrics_spec), which also has units. */
const openMetrics: Exposition = {
  contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  write: (families) => `${families.map((family) => writeFamily(family, openMetricsHead)).join('')}# EOF\n`,
};

/** The format for a client's `Accept` header: OpenMetrics where it is named and not refused, else the older one. */
export function expositionFor(accept: string | undefined): Exposition {
  const acceptItem = (accept ?? '')
    .split(',')
    .find((one) => /^\s*application\/openmetrics-text\b/i.test(one));
  return acceptItem === undefined || /;\s*q=0(?:\.0*)?\s*(?:;|$)/i.test(acceptItem)
    ? prometheusText
    : openMetrics;
}

function writeFamily(family: MetricFamily, headOf: (family: MetricFamily) => string): string {
  if (family.points.length === 0) return '';
  const samples =
    family.type === 'histogram'
      ? family.points.flatMap((point) => histogramSamples(family, point))
      : family.points.map(({ labels, value }) => sample(sampleName(family), labels, value));
  return `${headOf(family)}${samples.join('')}`;
}

function sampleName({ name, type }: MetricFamily): string {
  return type === 'counter' ? `${name}_total` : name;
}

function prometheusHead(family: MetricFamily): string {
  const name = sampleName(family);
  return `# HELP ${name} ${escapeText(family.help)}\n# TYPE ${name} ${family.type}\n`;
}

function openMetricsHead({ help, name, type, unit }: MetricFamily): string {
  const unitLine = unit === undefined ? '' : `# UNIT ${name} ${unit}\n`;
  return `# TYPE ${name} ${type}\n${unitLine}# HELP ${name} ${escapeValue(help)}\n`;
}

function histogramSamples(
  { bounds, name }: HistogramFamily,
  { counts, labels, sum }: HistogramPoint,
): string[] {
  const lines: string[] = [];
  let below = 0;
  for (let index = 0; index <= bounds.length; index += 1) {
    below += counts[index] ?? 0;
    const bound = bounds[index];
    lines.push(
      sample(`${name}_bucket`, { ...labels, le: bound === undefined ? '+Inf' : floatText(bound) }, below),
    );
  }
  lines.push(sample(`${name}_sum`, labels, sum), sample(`${name}_count`, labels, below));
  return lines;
}

/** As Go and Python write a float, so that `1.0` stays one series whichever format is scraped. */
function floatText(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function sample(name: string, labels: Labels, value: number): string {
  return `${name}${labelText(labels)} ${valueText(value)}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** Lone surrogates have no UTF-8; a NUL ends the line for some readers. */
const escapeText = (text: string): string =>
  text.toWellFormed().replaceAll('\0', '').replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const escapeValue = (text: string): string => escapeText(text).replaceAll('"', '\\"');
