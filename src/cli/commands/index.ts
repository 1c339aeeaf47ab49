import type { CommandEntry } from '../command.ts';
import { setupTools } from '../tools/setup-tools.ts';
import { serveEntry } from './serve-entry.ts';

/** Every command, in the order of the help. Each file is imported only when its command is chosen. */
export const commandList: readonly CommandEntry[] = [
  serveEntry,
  {
    name: 'stop',
    summary: 'Stop the running gateway; open requests may finish',
    load: async () => (await import('./stop.ts')).stopCommand,
  },
  {
    name: 'service install',
    summary: 'Run the gateway in the background, as a user unit of systemd',
    load: async () => (await import('./service/install.ts')).serviceInstallCommand,
  },
  {
    name: 'service status',
    summary: 'Show whether the systemd unit is installed and runs',
    load: async () => (await import('./service/status.ts')).serviceStatusCommand,
  },
  {
    name: 'service uninstall',
    summary: 'Stop the gateway and remove its systemd unit',
    load: async () => (await import('./service/uninstall.ts')).serviceUninstallCommand,
  },
  {
    name: 'setup',
    summary: 'Set up a password, a provider and a key',
    load: async () => (await import('./setup.ts')).setupCommand,
  },
  {
    name: 'demo-data',
    summary: 'Fill a scratch data directory with a month of made-up traffic',
    load: async () => (await import('./demo-data.ts')).demoDataCommand,
  },
  {
    name: 'reset-password',
    summary: 'Set a new password for a user, on this machine',
    load: async () => (await import('./reset-password.ts')).resetPasswordCommand,
  },
  {
    name: 'keys add',
    summary: 'Create a gateway key and show it once',
    load: async () => (await import('./keys/add.ts')).keysAddCommand,
  },
  {
    name: 'keys list',
    summary: 'List the gateway keys',
    load: async () => (await import('./keys/list.ts')).keysListCommand,
  },
  {
    name: 'keys edit',
    summary: 'Change the name or the limits of a gateway key',
    load: async () => (await import('./keys/edit.ts')).keysEditCommand,
  },
  {
    name: 'keys rotate',
    summary: 'Replace the text of a gateway key and show it once',
    load: async () => (await import('./keys/rotate.ts')).keysRotateCommand,
  },
  {
    name: 'keys disable',
    summary: 'Refuse a gateway key until it is enabled again',
    load: async () => (await import('./keys/switch.ts')).keysDisableCommand,
  },
  {
    name: 'keys enable',
    summary: 'Accept a disabled gateway key again',
    load: async () => (await import('./keys/switch.ts')).keysEnableCommand,
  },
  {
    name: 'keys remove',
    summary: 'Remove a gateway key; it stops working at once',
    load: async () => (await import('./keys/remove.ts')).keysRemoveCommand,
  },
  {
    name: 'budgets list',
    summary: 'Show budgets and limits and how much is used',
    load: async () => (await import('./budgets/list.ts')).budgetsListCommand,
  },
  {
    name: 'budgets set',
    summary: 'Limit money, tokens, requests or concurrency',
    load: async () => (await import('./budgets/set.ts')).budgetsSetCommand,
  },
  {
    name: 'budgets remove',
    summary: 'Remove a budget',
    load: async () => (await import('./budgets/remove.ts')).budgetsRemoveCommand,
  },
  {
    name: 'provider add',
    summary: 'Connect a provider',
    load: async () => (await import('./provider/add.ts')).providerAddCommand,
  },
  {
    name: 'provider edit',
    summary: 'Change the address, the key or the settings of a connection',
    load: async () => (await import('./provider/edit.ts')).providerEditCommand,
  },
  {
    name: 'provider rename',
    summary: 'Rename a connection, also where combos and keys name it',
    load: async () => (await import('./provider/rename.ts')).providerRenameCommand,
  },
  {
    name: 'provider pause',
    summary: 'Pause a connection: send it no more requests',
    load: async () => (await import('./provider/switch.ts')).providerPauseCommand,
  },
  {
    name: 'provider resume',
    summary: 'Resume a paused connection',
    load: async () => (await import('./provider/switch.ts')).providerResumeCommand,
  },
  {
    name: 'provider login',
    summary: 'Log in at a provider (OAuth 2.0)',
    load: async () => (await import('./provider/login.ts')).providerLoginCommand,
  },
  {
    name: 'provider logout',
    summary: 'End a login at a provider',
    load: async () => (await import('./provider/logout.ts')).providerLogoutCommand,
  },
  {
    name: 'provider remove',
    summary: 'Remove a connection and its credential',
    load: async () => (await import('./provider/remove.ts')).providerRemoveCommand,
  },
  {
    name: 'provider list',
    summary: 'List the connections (same as `providers list`)',
    load: async () => (await import('./providers/list.ts')).providersListCommand,
  },
  {
    name: 'providers available',
    summary: 'List the providers that can be connected',
    load: async () => (await import('./providers/available.ts')).providersAvailableCommand,
  },
  {
    name: 'providers list',
    summary: 'List the connections',
    load: async () => (await import('./providers/list.ts')).providersListCommand,
  },
  {
    name: 'providers test',
    summary: 'Test one connection against its provider',
    load: async () => (await import('./providers/test.ts')).providersTestCommand,
  },
  {
    name: 'providers test-all',
    summary: 'Test every active connection',
    load: async () => (await import('./providers/test-all.ts')).providersTestAllCommand,
  },
  {
    name: 'providers validate',
    summary: 'Check the stored connections without sending anything',
    load: async () => (await import('./providers/validate.ts')).providersValidateCommand,
  },
  {
    name: 'models',
    summary: 'List the available models with their prices',
    load: async () => (await import('./models.ts')).modelsCommand,
  },
  {
    name: 'catalog show',
    summary: 'Show the facts about a model and where each figure comes from',
    load: async () => (await import('./catalog/show.ts')).catalogShowCommand,
  },
  {
    name: 'catalog update',
    summary: 'Update the model catalog: facts and prices',
    load: async () => (await import('./catalog/update.ts')).catalogUpdateCommand,
  },
  {
    name: 'combo list',
    summary: 'List the combos',
    load: async () => (await import('./combo/list.ts')).comboListCommand,
  },
  {
    name: 'combo show',
    summary: 'Show a combo: its targets, and which are unavailable',
    load: async () => (await import('./combo/show.ts')).comboShowCommand,
  },
  {
    name: 'combo create',
    summary: 'Create a combo: several models behind one name',
    load: async () => (await import('./combo/create.ts')).comboCreateCommand,
  },
  {
    name: 'combo switch',
    summary: 'Make a combo the one that the model "auto" stands for',
    load: async () => (await import('./combo/switch.ts')).comboSwitchCommand,
  },
  {
    name: 'combo delete',
    summary: 'Delete a combo',
    load: async () => (await import('./combo/delete.ts')).comboDeleteCommand,
  },
  {
    name: 'combo simulate',
    summary: 'Simulate a combo with past requests, without sending any',
    load: async () => (await import('./combo/simulate.ts')).comboSimulateCommand,
  },
  {
    name: 'alias list',
    summary: 'List the aliases',
    load: async () => (await import('./alias/list.ts')).aliasListCommand,
  },
  {
    name: 'alias add',
    summary: 'Create an alias for a model or combo',
    load: async () => (await import('./alias/add.ts')).aliasAddCommand,
  },
  {
    name: 'alias remove',
    summary: 'Remove an alias',
    load: async () => (await import('./alias/remove.ts')).aliasRemoveCommand,
  },
  {
    name: 'status',
    summary: 'Show whether the gateway is running, and the last 24 hours',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'version',
    summary: 'Show the version of this program and of the running gateway',
    load: async () => (await import('./version.ts')).versionCommand,
  },
  {
    name: 'logs',
    summary: 'Show recent requests with tokens and costs',
    load: async () => (await import('./logs.ts')).logsCommand,
  },
  {
    name: 'usage',
    summary: 'Show tokens and costs by day, model, connection, key, combo, owner, team or tag',
    load: async () => (await import('./usage.ts')).usageCommand,
  },
  {
    name: 'explain',
    summary: 'Show why a request went where it went',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'health',
    summary: 'Show the health of connections and services',
    load: async () => (await import('./health.ts')).healthCommand,
  },
  {
    name: 'cache',
    summary: 'Show the response cache, or clear it',
    load: async () => (await import('./cache.ts')).cacheCommand,
  },
  {
    name: 'quota',
    summary: 'Show the remaining quota of each connection',
    load: async () => (await import('./quota.ts')).quotaCommand,
  },
  {
    name: 'config show',
    summary: 'Show every setting and where it comes from',
    load: async () => (await import('./config/show.ts')).configShowCommand,
  },
  {
    name: 'env show',
    summary: 'Show the environment variables that the gateway reads',
    load: async () => (await import('./env/show.ts')).envShowCommand,
  },
  {
    name: 'env get',
    summary: 'Print one environment variable',
    load: async () => (await import('./env/get.ts')).envGetCommand,
  },
  {
    name: 'env set',
    summary: 'Print the line that sets an environment variable in this shell',
    load: async () => (await import('./env/set.ts')).envSetCommand,
  },
  {
    name: 'audit list',
    summary: 'Show the records of the audit log',
    load: async () => (await import('./audit/list.ts')).auditListCommand,
  },
  {
    name: 'audit verify',
    summary: 'Verify that the audit log has not been altered',
    load: async () => (await import('./audit/verify.ts')).auditVerifyCommand,
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
    name: 'migrate-store',
    summary: 'Move the state between the data directory and PostgreSQL',
    load: async () => (await import('./migrate-store.ts')).migrateStoreCommand,
  },
  {
    name: 'auth export',
    summary: 'Print the stored credentials in plain text',
    load: async () => (await import('./auth/export.ts')).authExportCommand,
  },
  {
    name: 'storage prune',
    summary: 'Remove old requests from the ledger',
    load: async () => (await import('./storage/prune.ts')).storagePruneCommand,
  },
  {
    name: 'storage rotate-key',
    summary: 'Rotate the encryption key of stored credentials',
    load: async () => (await import('./storage/rotate-key.ts')).storageRotateKeyCommand,
  },
  {
    name: 'reset-encrypted-columns',
    summary: 'Remove the stored credentials when their key is lost',
    load: async () => (await import('./reset-encrypted-columns.ts')).resetEncryptedColumnsCommand,
  },
  {
    name: 'events filter',
    summary: 'Check a CESQL expression, and try it on events',
    load: async () => (await import('./events/filter.ts')).eventsFilterCommand,
  },
  {
    name: 'events validate',
    summary: 'Check an event configuration',
    load: async () => (await import('./events/validate.ts')).eventsValidateCommand,
  },
  {
    name: 'events send',
    summary: 'Send events to the running gateway',
    load: async () => (await import('./events/send.ts')).eventsSendCommand,
  },
  {
    name: 'events apply',
    summary: 'Apply an event configuration',
    load: async () => (await import('./events/apply.ts')).eventsApplyCommand,
  },
  {
    name: 'events show',
    summary: 'Show the event configuration',
    load: async () => (await import('./events/show.ts')).eventsShowCommand,
  },
  {
    name: 'events history',
    summary: 'Show earlier event configurations',
    load: async () => (await import('./events/history.ts')).eventsHistoryCommand,
  },
  {
    name: 'events rollback',
    summary: 'Go back to an earlier event configuration',
    load: async () => (await import('./events/rollback.ts')).eventsRollbackCommand,
  },
  {
    name: 'events status',
    summary: 'Show the state of the event engine',
    load: async () => (await import('./events/status.ts')).eventsStatusCommand,
  },
  {
    name: 'events tail',
    summary: 'Show events as they are published',
    load: async () => (await import('./events/tail.ts')).eventsTailCommand,
  },
  {
    name: 'events dead-letters',
    summary: 'List, show, replay and purge events that failed',
    load: async () => (await import('./events/dead-letters.ts')).eventsDeadLettersCommand,
  },
  {
    name: 'events repair',
    summary: 'Recover what is readable from a damaged event database',
    load: async () => (await import('./events/repair.ts')).eventsRepairCommand,
  },
  {
    name: 'events types',
    summary: 'List the types of events that the gateway itself emits',
    load: async () => (await import('./events/types.ts')).eventsTypesCommand,
  },
  {
    name: 'alerts add',
    summary: 'Add an alert by webhook, Slack, e-mail or a program',
    load: async () => (await import('./alerts/add.ts')).alertsAddCommand,
  },
  {
    name: 'alerts list',
    summary: 'List the alerts',
    load: async () => (await import('./alerts/list.ts')).alertsListCommand,
  },
  {
    name: 'alerts show',
    summary: 'Show one alert',
    load: async () => (await import('./alerts/show.ts')).alertsShowCommand,
  },
  {
    name: 'alerts test',
    summary: 'Send a test message and show the answer',
    load: async () => (await import('./alerts/test.ts')).alertsTestCommand,
  },
  {
    name: 'alerts pause',
    summary: 'Pause an alert, or resume it',
    load: async () => (await import('./alerts/pause.ts')).alertsPauseCommand,
  },
  {
    name: 'alerts remove',
    summary: 'Remove an alert',
    load: async () => (await import('./alerts/remove.ts')).alertsRemoveCommand,
  },
  {
    name: 'tools list',
    summary: 'List the coding tools that can be set up',
    load: async () => (await import('./tools/list.ts')).toolsListCommand,
  },
  {
    name: 'tools status',
    summary: 'Show the installed tools and where they point',
    load: async () => (await import('./tools/status.ts')).toolsStatusCommand,
  },
  {
    name: 'tools detect',
    summary: 'Find the tools that are installed on this machine',
    load: async () => (await import('./tools/detect.ts')).toolsDetectCommand,
  },
  {
    name: 'tools add',
    summary: 'Add a tool that is not in the catalog',
    load: async () => (await import('./tools/add.ts')).toolsAddCommand,
  },
  {
    name: 'tools remove',
    summary: 'Remove a tool that you added',
    load: async () => (await import('./tools/remove.ts')).toolsRemoveCommand,
  },
  {
    name: 'tools configure',
    summary: 'Point a tool at this gateway',
    load: async () => (await import('./tools/configure.ts')).toolsConfigureCommand,
  },
  {
    name: 'tools restore',
    summary: 'Restore the configuration a tool had before',
    load: async () => (await import('./tools/restore.ts')).toolsRestoreCommand,
  },
  ...setupTools.map(({ id, name }) => ({
    name: `setup-${id}`,
    summary: `Point ${name} at this gateway and test the connection`,
    load: async () => (await import('./setup-tool.ts')).setupToolCommand(id),
  })),
  {
    name: 'tools doctor',
    summary: 'Check whether a tool will work through the gateway',
    load: async () => (await import('./tools/doctor.ts')).toolsDoctorCommand,
  },
  {
    name: 'launch',
    summary: 'Run Claude Code through the gateway, without writing its configuration',
    load: async () => (await import('./launch.ts')).launchCommand('launch', 'claude', '-p "explain this"'),
  },
  {
    name: 'launch-codex',
    summary: 'Run Codex through the gateway, without writing its configuration',
    load: async () =>
      (await import('./launch.ts')).launchCommand('launch-codex', 'codex', 'exec "explain this"'),
  },
  {
    name: 'run',
    summary: 'Run a tool through the gateway, without writing its configuration',
    load: async () => (await import('./run.ts')).runToolCommand,
  },
  {
    name: 'agents list',
    summary: 'Show the ACP agents of this machine and which can be used',
    load: async () => (await import('./agents/list.ts')).agentsListCommand,
  },
  {
    name: 'agents show',
    summary: 'Show the details of an ACP agent',
    load: async () => (await import('./agents/show.ts')).agentsShowCommand,
  },
  {
    name: 'agents enable',
    summary: 'Let model requests start an ACP agent on this machine',
    load: async () => (await import('./agents/enable.ts')).agentsEnableCommand,
  },
  {
    name: 'agents disable',
    summary: 'Refuse requests to an ACP agent and end its processes',
    load: async () => (await import('./agents/disable.ts')).agentsDisableCommand,
  },
  {
    name: 'agents permissions',
    summary: 'Show or set what an ACP agent may do',
    load: async () => (await import('./agents/permissions.ts')).agentsPermissionsCommand,
  },
  {
    name: 'agents edit',
    summary: 'Change how an ACP agent is run',
    load: async () => (await import('./agents/edit.ts')).agentsEditCommand,
  },
  {
    name: 'agents add',
    summary: 'Add a program of your own as an ACP agent',
    load: async () => (await import('./agents/add.ts')).agentsAddCommand,
  },
  {
    name: 'agents remove',
    summary: 'Remove an ACP agent that you added',
    load: async () => (await import('./agents/remove.ts')).agentsRemoveCommand,
  },
  {
    name: 'agents test',
    summary: 'Test an ACP agent with a one-word prompt',
    load: async () => (await import('./agents/test.ts')).agentsTestCommand,
  },
  {
    name: 'agents logs',
    summary: 'Show the last lines that an ACP agent printed',
    load: async () => (await import('./agents/logs.ts')).agentsLogsCommand,
  },
  {
    name: 'mcp serve',
    summary: 'Serve MCP over stdio (also: `gateway --mcp`)',
    load: async () => (await import('./mcp/serve.ts')).mcpServeCommand,
  },
  {
    name: 'mcp status',
    summary: 'Show whether the MCP server of the gateway works',
    load: async () => (await import('./mcp/status.ts')).mcpStatusCommand,
  },
  {
    name: 'mcp restart',
    summary: 'Restart the MCP server of the gateway',
    load: async () => (await import('./mcp/status.ts')).mcpRestartCommand,
  },
  {
    name: 'a2a status',
    summary: 'Show whether the A2A server of the gateway works',
    load: async () => (await import('./a2a/status.ts')).a2aStatusCommand,
  },
  {
    name: 'a2a card',
    summary: 'Print the agent card of the gateway',
    load: async () => (await import('./a2a/card.ts')).a2aCardCommand,
  },
  {
    name: 'a2a restart',
    summary: 'Restart the A2A server of the gateway',
    load: async () => (await import('./a2a/status.ts')).a2aRestartCommand,
  },
  {
    name: 'tunnel list',
    summary: 'List the kinds of tunnels, and the public addresses of this gateway',
    load: async () => (await import('./tunnel/list.ts')).tunnelListCommand,
  },
  {
    name: 'tunnel create',
    summary: 'Open a tunnel to this gateway from the internet',
    load: async () => (await import('./tunnel/create.ts')).tunnelCreateCommand,
  },
  {
    name: 'tunnel stop',
    summary: 'Close a tunnel; it stays closed until it is created again',
    load: async () => (await import('./tunnel/stop.ts')).tunnelStopCommand,
  },
  {
    name: 'test',
    summary: 'Send a small request through the running gateway',
    load: async () => (await import('./test.ts')).testCommand,
  },
  {
    name: 'update',
    summary: 'Check whether there is a newer version; installs nothing',
    load: async () => (await import('./update.ts')).updateCommand,
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
