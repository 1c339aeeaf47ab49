/** What is used of a package without types. */
declare module 'parse-prometheus-text-format' {
  interface Family {
    name: string;
    help: string;
    type: string;
    /** Those of a histogram have no labels and no value. */
    metrics: { labels?: Record<string, string>; value?: string }[];
  }
  function parsePrometheusTextFormat(text: string): Family[];

  // biome-ignore lint/style/noDefaultExport: it is what the package has
  export { parsePrometheusTextFormat as default };
}
