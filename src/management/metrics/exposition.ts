/** One metric with its values, as Prometheus reads it. */
export interface MetricFamily {
  /** Without the prefix `modelgate_`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** The text exposition format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
export function exposition(families: readonly MetricFamily[]): string {
  return families
    .filter(({ values }) => values.length > 0)
    .map(({ help, name, type, values }) => {
      const full = `modelgate_${name}`;
      const lines = values.map(({ labels, value }) => `${full}${labelText(labels)} ${value}`);
      return [`# HELP ${full} ${escaped(help)}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n');
    })
    .join('');
}

function labelText(labels: MetricValue['labels']): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
