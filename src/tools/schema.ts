import { z } from 'zod';

/** A path of a configuration file, as a backup keeps it. */
const path = z.array(z.union([z.string(), z.object({ key: z.string(), equals: z.string() })]));

/** `manifest.json` of a backup: what a tool's files were before a change, and what was changed in them. */
export const backupManifest = z.object({
  id: z.string(),
  tool: z.string(),
  action: z.enum(['configure', 'restore']),
  /** ISO 8601 UTC. */
  created_at: z.iso.datetime(),
  /** Address of the gateway that the tool was pointed at; null for a restore. */
  gateway: z.string().nullable(),
  files: z.array(
    z.object({
      path: z.string(),
      format: z.enum(['json', 'jsonc', 'yaml', 'toml', 'env']),
      /** The file beside the manifest that has the former content; null when there was none. */
      content: z.string().nullable(),
      /** Permission bits of then. */
      mode: z.int().nullable(),
      /** SHA-256 of what was written; null when the file was removed. */
      written: z.string().nullable(),
      /** Folders that were made for it, the outermost first. */
      folders: z.array(z.string()),
      entries: z.array(
        z.object({
          path,
          /** What stood there; absent when nothing did. */
          before: z.json().optional(),
          /** SHA-256 of what was written, as JSON; null when the entry was taken away. */
          written: z.string().nullable(),
          /** It goes with the group that was made for it, whatever it says then. */
          loose: z.boolean(),
        }),
      ),
      /** Groups and lists that were made, the innermost first. */
      made: z.array(path),
    }),
  ),
});

export type BackupManifest = z.infer<typeof backupManifest>;
export type BackupFile = BackupManifest['files'][number];

export const configStatus = z.enum(['configured', 'not_configured', 'not_installed', 'unknown', 'other']);
export type ConfigStatus = z.infer<typeof configStatus>;

/** The status of one tool, as the map of all tools has it. */
export const toolBatchStatus = z.object({
  detection: z.object({
    installed: z.boolean(),
    runnable: z.boolean(),
    version: z.string().optional(),
    command: z.string().optional(),
    commandPath: z.string().optional(),
    reason: z.string().optional(),
  }),
  config: z.object({
    status: configStatus,
    endpoint: z.string().nullable(),
    /** ISO 8601 UTC. */
    lastConfiguredAt: z.string().nullable(),
  }),
  error: z.string().optional(),
});

export type ToolBatchStatus = z.infer<typeof toolBatchStatus>;
export type Detection = ToolBatchStatus['detection'];

const plainText = (most: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(most, `has at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'has no control characters');

/** What a tool is to be set up with, as the management API takes it. */
export const toolSettingsInput = z.strictObject({
  /** Address of this gateway, with or without `/v1`; the one that it listens on when absent. */
  base_url: plainText(2000).optional(),
  /** A model id, a combo, an alias, or `auto`. */
  model: plainText(300).optional(),
  /** A gateway key by its id. Its text is not kept, so this serves where the tool has the key already, or reads it from a variable. */
  key_id: plainText(100).optional(),
  /** The text of a gateway key. */
  api_key: plainText(500).optional(),
  /** Shows what would be written, and writes nothing. */
  dry_run: z.boolean().optional(),
});

export type ToolSettingsInput = z.infer<typeof toolSettingsInput>;

/** How a tool is set up, as the management API shows it. */
export const toolSettings = z.object({
  tool: z.string(),
  name: z.string(),
  status: configStatus,
  /** Its main configuration file, whether it exists or not. */
  path: z.string().nullable(),
  paths: z.array(z.string()),
  endpoint: z.string().nullable(),
  model: z.string().nullable(),
  /** What stands in the places that the gateway writes, without secrets. */
  config: z.record(z.string(), z.unknown()),
  /** Entries that no longer are what the gateway wrote there. */
  drifted: z.array(z.string()),
  /** The command that points the tool at the gateway again; null when nothing has drifted. */
  mend: z.string().nullable(),
  /** ISO 8601 UTC; null when the gateway did not write it. */
  last_configured_at: z.string().nullable(),
  model_required: z.boolean(),
  /** Whether its key stands in its file; else it is read from the variable. */
  key_in_file: z.boolean(),
  key_variable: z.string().nullable(),
  error: z.string().optional(),
});

export type ToolSettings = z.infer<typeof toolSettings>;

const changedFile = z.object({ path: z.string(), changed: z.boolean() });

/** What a change of a tool's configuration did, or would do. */
export const toolChange = z.object({
  ok: z.literal(true),
  tool: z.string(),
  path: z.string().nullable(),
  changed: z.boolean(),
  /** Unified, without secrets. */
  diff: z.string(),
  backup_id: z.string().nullable(),
  files: z.array(changedFile),
  /** Variables that the tool needs besides; null stands for the gateway key. */
  environment: z.record(z.string(), z.string().nullable()).optional(),
  /** What is left to do by hand. */
  steps: z.array(z.string()).optional(),
  /** Of a restore: entries that were left, because they were changed since. */
  kept: z.array(z.string()).optional(),
});

/** A tool of the catalogue, with where it points. */
export const toolRow = z.object({
  id: z.string(),
  name: z.string(),
  color: z.string(),
  description: z.string(),
  docsUrl: z.string(),
  category: z.enum(['code', 'agent']),
  vendor: z.string(),
  acpSpawnable: z.boolean(),
  baseUrlSupport: z.enum(['full', 'partial', 'none']),
  configType: z.enum(['env', 'custom', 'guide', 'custom-builder', 'mitm']),
  /** Id of its extension for VS Code and its relatives. */
  extension: z.string().optional(),
  /** Why it can be pointed elsewhere in part only, or not at all. */
  limitation: z.string().optional(),
  /** The API that it speaks once it is set up. */
  api: z.string(),
  model_required: z.boolean(),
  /** Whether its program was found. It is not run for that. */
  installed: z.boolean(),
  status: configStatus,
  endpoint: z.string().nullable(),
  model: z.string().nullable(),
  paths: z.array(z.string()),
  drifted: z.array(z.string()),
  mend: z.string().nullable(),
  /** What to write to point it at a gateway by hand, with `<base_url>`, `<api_key>` and `<model>` to be filled in. */
  by_hand: z.object({
    files: z.array(z.object({ path: z.string(), text: z.string() })),
    environment: z.record(z.string(), z.string()),
    steps: z.array(z.string()),
  }),
  /** Whether the address that it takes ends in `/v1`. */
  base_url_has_version: z.boolean(),
  /** Where its configuration is read and written; null for a tool without a file. */
  settings_href: z.string().nullable(),
  /** Whether `gateway launch` starts it, pointed at the gateway by its environment alone. */
  launchable: z.boolean(),
});

export type ToolRow = z.infer<typeof toolRow>;
