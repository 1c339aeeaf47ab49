/**
 * The tests that start the program itself, by what they are about: no import leads from them to the code that they run.
 * The longest prefix of a changed path counts.
 */
export const programTests: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['test/readme.test.ts'],
  'bin/': ['test/launcher.test.ts', 'test/package.test.ts', 'test/cli/running.test.ts'],
  'dashboard/': ['test/dashboard/*.test.ts'],
  'docs/': [
    'test/docs.test.ts',
    'test/*-page.test.ts',
    'test/cli/docs.test.ts',
    'test/translation/page.test.ts',
  ],
  'proto/': ['test/events/schema.test.ts', 'test/events/connect.test.ts'],
  package: ['test/package.test.ts', 'test/dependencies.test.ts', 'test/launcher.test.ts'],
  'scripts/build': ['test/package.test.ts'],
  'src/': ['test/cli/running.test.ts', 'test/e2e/http/routes.test.ts'],
  'src/a2a/': ['test/e2e/management/a2a.test.ts'],
  'src/access/': [
    'test/security/*.test.ts',
    'test/cli/keys*.test.ts',
    'test/e2e/limits/model-permissions.test.ts',
  ],
  'src/agents/': [
    'test/agents/*.test.ts',
    'test/e2e/providers/acp-agents.test.ts',
    'test/tools/acp-agents.test.ts',
  ],
  'src/alerts/': ['test/e2e/management/alerts.test.ts'],
  'src/backup/': ['test/cli/backup.test.ts', 'test/e2e/management/audit-and-backups.test.ts'],
  'src/budgets/': ['test/e2e/limits/*.test.ts', 'test/cli/budgets.test.ts'],
  'src/cache/': ['test/e2e/cache/*.test.ts'],
  'src/catalog/': ['test/e2e/usage/catalog*.test.ts', 'test/cli/usage.test.ts'],
  'src/cli/': ['test/cli/*.test.ts'],
  'src/codecs/': [
    'test/translation/*.test.ts',
    'test/e2e/translation/*.test.ts',
    'test/e2e/streams/odd-*.test.ts',
  ],
  'src/combos/': [
    'test/e2e/**/*combo*.test.ts',
    'test/e2e/routing/failover.test.ts',
    'test/cli/combo*.test.ts',
  ],
  'src/connections/': [
    'test/cli/provider*.test.ts',
    'test/e2e/providers/oauth.test.ts',
    'test/e2e/providers/cloud.test.ts',
  ],
  'src/dashboard/': ['test/dashboard/*.test.ts', 'test/security/chromium.test.ts'],
  'src/events/': [
    'test/events/*.test.ts',
    'test/cli/events*.test.ts',
    'test/e2e/operations/own-events.test.ts',
  ],
  'src/health/': [
    'test/e2e/routing/failover.test.ts',
    'test/e2e/routing/waiting.test.ts',
    'test/e2e/routing/exhausted.test.ts',
  ],
  'src/http/': ['test/e2e/**/*.test.ts', 'test/security/slow.test.ts', 'test/security/negotiation.test.ts'],
  'src/ledger/': ['test/e2e/usage/*.test.ts', 'test/cli/*usage*.test.ts'],
  'src/management/': [
    'test/security/*.test.ts',
    'test/e2e/management/collections.test.ts',
    'test/e2e/management/resources.test.ts',
    'test/e2e/management/live.test.ts',
  ],
  'src/mcp/': ['test/e2e/management/mcp.test.ts'],
  'src/providers/': ['test/e2e/providers/*.test.ts', 'test/cli/providers.test.ts'],
  'src/proxy/': ['test/e2e/**/*.test.ts', 'test/translation/sdk*.test.ts'],
  'src/responses/': ['test/e2e/endpoints/responses-*.test.ts'],
  'src/services/': ['test/e2e/management/services.test.ts', 'test/security/services.test.ts'],
  'src/settings/': ['test/e2e/management/resources.test.ts', 'test/cli/env.test.ts'],
  'src/simulation/': ['test/cli/combo-simulate.test.ts'],
  'src/store/': [
    'test/e2e/operations/durability.test.ts',
    'test/e2e/operations/damaged-database.test.ts',
    'test/e2e/operations/locked-database.test.ts',
    'test/cli/backup.test.ts',
  ],
  'src/telemetry/': [
    'test/e2e/operations/telemetry.test.ts',
    'test/e2e/operations/metrics.test.ts',
    'test/metrics-page.test.ts',
  ],
  'src/tools/': [
    'test/tools/*.test.ts',
    'test/cli/*tools*.test.ts',
    'test/e2e/management/tools-doctor.test.ts',
  ],
  'src/tunnels/': ['test/e2e/operations/tunnels.test.ts'],
};

/** The patterns of the row with the longest prefix of `path`; none for a path that no row is about. */
export function programTestsOf(path: string): readonly string[] {
  const prefix = Object.keys(programTests)
    .filter((one) => path.startsWith(one))
    .sort((a, b) => b.length - a.length)[0];
  return prefix === undefined ? [] : (programTests[prefix] ?? []);
}
