import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * Which modules are one file, so that a page is opened with few requests and the first page with few bytes: texts by
 * language and area, what the first view needs, what several pages need, and each page with what belongs to it alone.
 * No module may await at its top: Rolldown then leaves small files apart.
 */
const groups = [
  { name: textsOf, debugName: 'texts', test: /\/locales\/(?!en\/common\.json)/ },
  { name: 'app', tags: ['$initial' as const] },
  {
    name: 'forms',
    test: /node_modules\/(react-hook-form|@hookform|zod)\/|(?<!dashboard)\/src\/(access|budgets|combos)\//,
  },
  {
    name: 'parts',
    test: /node_modules\/|dashboard\/src\/(components|lib|features\/views)\/|\/(keys|connections|tools)\/queries\.ts|\/requests\/outcome-badge\./,
  },
  {
    name: pageOf,
    debugName: 'pages',
    test: /dashboard\/src\/(pages|features)\/|\/src\/(events\/cesql|agents)\//,
  },
];

/** Namespaces by the area of the pages that show them; all others belong to the first pages. */
const areas: Readonly<Record<string, RegExp>> = {
  tools: /^(acpAgents|cliAgents|cliCode|cliCommon)$/,
  route: /^(budgets|combos|connections|keys|models)$/,
  operate: /^(audit|backups|events|services|settings|users)$/,
};

/** @param id the path of a file `locales/LANGUAGE/NAMESPACE.json` */
function textsOf(id: string): string | null {
  const [, language, namespace = ''] = /\/locales\/([\w-]+)\/(\w+)\.json/.exec(id) ?? [];
  if (language === undefined) return null;
  const [area = 'use'] = Object.entries(areas).find(([, names]) => names.test(namespace)) ?? [];
  return `texts-${language}-${area}`;
}

/** What is in the file of another page than its own name says. */
const partOf: Readonly<Record<string, string>> = {
  'acp-agent': 'tools',
  'acp-agents': 'tools',
  agent: 'tools',
  agents: 'tools',
  'audit-record': 'audit',
  'coding-tool': 'tools',
  'coding-tools': 'tools',
  'dead-letter': 'events',
  request: 'requests',
  service: 'services',
};

/** @param id the path of a page, of a file of a feature, or of one of the gateway's sources that they share */
function pageOf(id: string): string | null {
  const [, page, noun] =
    /\/pages\/\w+\/([\w-]+)\.tsx|\/(?:features|src(?=\/(?:agents|events)))\/([\w-]+)\//.exec(id) ?? [];
  const name = page ?? noun;
  return name === undefined ? null : (partOf[name] ?? name);
}

/**
 * Refuses a build whose files import each other in a circle, for then one of them runs before what it needs is there,
 * and its pages stay empty; and lists in `gateway-sources.json` the gateway's own modules that the pages share, from
 * the root of the project on, by which `scripts/build-dashboard.ts` sees that they changed.
 */
const checkedFiles: Plugin = {
  name: 'checked-files',
  apply: 'build',
  generateBundle(_options, bundle) {
    const importsOf = (file: string): readonly string[] => {
      const output = bundle[file];
      return output?.type === 'chunk' ? output.imports : [];
    };
    const done = new Set<string>();
    const follow = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) this.error(`these files import each other: ${[...path, file].join(' > ')}`);
      if (done.has(file)) return;
      for (const imported of importsOf(file)) follow(imported, [...path, file]);
      done.add(file);
    };
    for (const file of Object.keys(bundle)) follow(file, []);
    // Ids have slashes on every system.
    const root = fileURLToPath(new URL('../', import.meta.url)).replaceAll('\\', '/');
    const shared = [...this.getModuleIds()]
      .filter((id) => id.startsWith(`${root}src/`))
      .map((id) => id.slice(root.length));
    this.emitFile({ type: 'asset', fileName: 'gateway-sources.json', source: JSON.stringify(shared.sort()) });
  },
};

// biome-ignore lint/style/noDefaultExport: Vite reads it so.
export default defineConfig({
  // Relative, so that a proxy may serve the gateway below a path of its own.
  base: './',
  plugins: [react(), tailwindcss(), checkedFiles],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 500,
    reportCompressedSize: false,
    license: { fileName: 'licenses.txt' },
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups, includeDependenciesRecursively: false } } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:20128' } },
});
