/**
 * The program. The published package holds it twice: as one large file for `serve`, which needs most of it at its start,
 * and in parts for the other commands, which need little (docs/decisions/0048).
 */
const argv = process.argv.slice(2);
const serves = argv.length === 0 || argv[0] === 'serve';
const { begin } = serves ? await import('./begin-serve.ts') : await import('./begin.ts');
await begin(argv, import.meta.filename);
