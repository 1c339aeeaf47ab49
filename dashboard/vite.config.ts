import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

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
    test: /node_modules\/(react-hook-form|@hookform|zod)\/|\/src\/(access|budgets|combos)\/schema\.ts/,
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

// biome-ignore lint/style/noDefaultExport: Vite reads it so.
export default defineConfig({
  // Relative, so that a proxy may serve the gateway below a path of its own.
  base: './',
  plugins: [react(), tailwindcss()],
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
