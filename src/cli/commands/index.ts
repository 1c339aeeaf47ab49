import type { CommandEntry } from '../command.ts';

/** What a first word with commands below it is about. */
export const groups: Readonly<Record<string, string>> = {
  audit: 'The audit log: who changed, tried or was refused what',
  auth: 'The credentials of providers',
  alias: 'Other names of models',
  combo: 'Combos: routing sets of models',
  budgets: 'Limits on money, tokens and requests',
  keys: 'Gateway keys: what tools and agents log in with',
  provider: 'Connect providers',
  providers: 'The provider catalogue and the connections made from it',
  config: 'The configuration in effect',
};

/** Every command, in the order of the help. Each file is imported only when its command is chosen. */
export const commandList: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Start the gateway (also: `gateway` alone)',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'setup',
    summary: 'Set up a password, a provider and a key',
    load: async () => (await import('./setup.ts')).setupCommand,
  },
  {
    name: 'reset-password',
    summary: 'Set a new password for a user, on this machine',
    load: async () => (await import('./reset-password.ts')).resetPasswordCommand,
  },
  {
    name: 'keys add',
    summary: 'Make a gateway key and show it once',
    load: async () => (await import('./keys-add.ts')).keysAddCommand,
  },
  {
    name: 'keys list',
    summary: 'List the gateway keys',
    load: async () => (await import('./keys-list.ts')).keysListCommand,
  },
  {
    name: 'keys remove',
    summary: 'Remove a gateway key; it stops working at once',
    load: async () => (await import('./keys-remove.ts')).keysRemoveCommand,
  },
  {
    name: 'budgets list',
    summary: 'Show budgets and limits, and what is used of them',
    load: async () => (await import('./budgets-list.ts')).budgetsListCommand,
  },
  {
    name: 'budgets set',
    summary: 'Limit money, tokens, requests or concurrency',
    load: async () => (await import('./budgets-set.ts')).budgetsSetCommand,
  },
  {
    name: 'budgets remove',
    summary: 'Remove a budget',
    load: async () => (await import('./budgets-remove.ts')).budgetsRemoveCommand,
  },
  {
    name: 'provider add',
    summary: 'Connect a provider',
    load: async () => (await import('./provider-add.ts')).providerAddCommand,
  },
  {
    name: 'provider login',
    summary: 'Log in at a provider (OAuth 2.0)',
    load: async () => (await import('./provider-login.ts')).providerLoginCommand,
  },
  {
    name: 'provider logout',
    summary: 'End a login at a provider',
    load: async () => (await import('./provider-logout.ts')).providerLogoutCommand,
  },
  {
    name: 'provider remove',
    summary: 'Remove a connection and its credential',
    load: async () => (await import('./provider-remove.ts')).providerRemoveCommand,
  },
  {
    name: 'provider list',
    summary: 'List the connections (same as `providers list`)',
    load: async () => (await import('./providers-list.ts')).providersListCommand,
  },
  {
    name: 'providers available',
    summary: 'List the providers that can be connected',
    load: async () => (await import('./providers-available.ts')).providersAvailableCommand,
  },
  {
    name: 'providers list',
    summary: 'List the connections',
    load: async () => (await import('./providers-list.ts')).providersListCommand,
  },
  {
    name: 'providers test',
    summary: 'Test one connection against its provider',
    load: async () => (await import('./providers-test.ts')).providersTestCommand,
  },
  {
    name: 'providers test-all',
    summary: 'Test every active connection',
    load: async () => (await import('./providers-test-all.ts')).providersTestAllCommand,
  },
  {
    name: 'providers validate',
    summary: 'Check the stored connections without sending anything',
    load: async () => (await import('./providers-validate.ts')).providersValidateCommand,
  },
  {
    name: 'models',
    summary: 'List the models that can be asked for, with prices',
    load: async () => (await import('./models.ts')).modelsCommand,
  },
  {
    name: 'combo list',
    summary: 'List the combos',
    load: async () => (await import('./combo-list.ts')).comboListCommand,
  },
  {
    name: 'combo show',
    summary: 'Show a combo: its targets, and which cannot be asked',
    load: async () => (await import('./combo-show.ts')).comboShowCommand,
  },
  {
    name: 'combo create',
    summary: 'Make a combo: several models behind one name',
    load: async () => (await import('./combo-create.ts')).comboCreateCommand,
  },
  {
    name: 'combo switch',
    summary: 'Make a combo what the model "auto" means',
    load: async () => (await import('./combo-switch.ts')).comboSwitchCommand,
  },
  {
    name: 'combo delete',
    summary: 'Delete a combo',
    load: async () => (await import('./combo-delete.ts')).comboDeleteCommand,
  },
  {
    name: 'combo simulate',
    summary: 'Replay past requests against a combo, on paper',
    load: async () => (await import('./combo-simulate.ts')).comboSimulateCommand,
  },
  {
    name: 'alias list',
    summary: 'List the aliases',
    load: async () => (await import('./alias-list.ts')).aliasListCommand,
  },
  {
    name: 'alias add',
    summary: 'Make another name for a model or combo',
    load: async () => (await import('./alias-add.ts')).aliasAddCommand,
  },
  {
    name: 'alias remove',
    summary: 'Remove an alias',
    load: async () => (await import('./alias-remove.ts')).aliasRemoveCommand,
  },
  {
    name: 'status',
    summary: 'Show whether the gateway runs, and what it has done',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'logs',
    summary: 'Show the requests of the ledger',
    load: async () => (await import('./logs.ts')).logsCommand,
  },
  {
    name: 'explain',
    summary: 'Show why a request went where it went',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'health',
    summary: 'Show how the accounts and the parts of the gateway are',
    load: async () => (await import('./health.ts')).healthCommand,
  },
  {
    name: 'cache',
    summary: 'Show what the cache of answers holds, or clear it',
    load: async () => (await import('./cache.ts')).cacheCommand,
  },
  {
    name: 'quota',
    summary: 'Show what is left of the limits of each account',
    load: async () => (await import('./quota.ts')).quotaCommand,
  },
  {
    name: 'config show',
    summary: 'Show every setting in effect and where it comes from',
    load: async () => (await import('./config-show.ts')).configShowCommand,
  },
  {
    name: 'audit list',
    summary: 'Show the records of the audit log',
    load: async () => (await import('./audit-list.ts')).auditListCommand,
  },
  {
    name: 'audit verify',
    summary: 'Check that the audit log is what was written',
    load: async () => (await import('./audit-verify.ts')).auditVerifyCommand,
  },
  {
    name: 'backup',
    summary: 'Back up the configuration and the database',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    summary: 'Restore a backup',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  {
    name: 'auth export',
    summary: 'Print the stored credentials in plain text',
    load: async () => (await import('./auth-export.ts')).authExportCommand,
  },
  {
    name: 'reset-encrypted-columns',
    summary: 'Remove the stored credentials when their key is lost',
    load: async () => (await import('./reset-encrypted-columns.ts')).resetEncryptedColumnsCommand,
  },
  {
    name: 'test',
    summary: 'Send a small request through the running gateway',
    load: async () => (await import('./test.ts')).testCommand,
  },
  {
    name: 'doctor',
    summary: 'Check this installation',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  {
    name: 'completion',
    summary: 'Print a shell completion script',
    load: async () => (await import('./completion.ts')).completionCommand,
  },
];
