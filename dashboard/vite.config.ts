import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** What is loaded with the first page, and what only by pages that need it. */
const groups = [
  { name: 'forms', test: /node_modules\/(react-hook-form|@hookform|zod)\// },
  { name: 'charts', test: /node_modules\/(d3-|internmap)/ },
  {
    name: 'ui',
    test: /dashboard\/src\/(components\/(?!figures\/bar-chart)|lib\/(?!wire-formats\/(?!names)))|node_modules\/lucide-react\//,
  },
  { name: 'vendor', test: /node_modules\/(react|react-dom|scheduler|@tanstack|i18next|react-i18next)\// },
];

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
