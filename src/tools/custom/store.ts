import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import { catalogue, findTool, tools } from '../catalogue/index.ts';
import { listBackups, sinceRestore } from '../configuring/backups.ts';
import type { ToolPlace } from '../configuring/configure.ts';
import { readState, writeFileWhole } from '../configuring/write-file.ts';
import { locate } from '../machine.ts';
import type { Tool } from '../tool.ts';
import { customEntry, variableProblem } from './entry.ts';
import { type CustomTool, customTool, customToolsFile } from './schema.ts';

/** The tools of the catalogue that are shown, and those that the user of this gateway described. */
export async function shownTools(dataDir: string): Promise<readonly Tool[]> {
  return [...tools, ...(await customEntries(dataDir))];
}

/** Every tool, with those of the catalogue that are not shown. */
export async function allTools(dataDir: string): Promise<readonly Tool[]> {
  return [...catalogue, ...(await customEntries(dataDir))];
}

/** A tool by its id; of the catalogue, shown or not, or a described one. */
export async function toolById(dataDir: string, id: string): Promise<Tool | null> {
  return findTool(id) ?? (await customEntries(dataDir)).find((tool) => tool.id === id) ?? null;
}

async function customEntries(dataDir: string): Promise<Tool[]> {
  return (await readCustomTools(dataDir)).map(customEntry);
}

/** @throws GatewayError `invalid_request` when the file is not what the gateway writes; it names the field */
async function readCustomTools(dataDir: string): Promise<CustomTool[]> {
  const path = toolsFile(dataDir);
  const { bytes } = await readState(path);
  if (bytes === null) return [];
  const result = customToolsFile.safeParse(parsed(bytes, path));
  if (result.success) return result.data.tools;
  throw damaged(path, problemOf(result.error.issues));
}

/**
 * Keeps a tool that its user describes.
 * @param described as `customTool` has it; it is checked here
 * @throws GatewayError `invalid_request` that names the field, `conflict` for an id that is taken
 */
export async function addCustomTool(
  place: Pick<ToolPlace, 'dataDir' | 'machine'>,
  described: unknown,
  { replace }: { replace: boolean },
): Promise<Tool> {
  const result = customTool.safeParse(described);
  if (!result.success) {
    const [issue] = result.error.issues;
    const param = String(issue?.path[0] ?? 'tool');
    throw new GatewayError('invalid_request', problemOf(result.error.issues), { param });
  }
  const tool = result.data;
  checkPlace(tool, place);
  if (findTool(tool.id) !== null)
    throw idTaken(`The catalogue has a tool "${tool.id}" already: take another id`);
  const others = await readCustomTools(place.dataDir);
  const exists = others.some(({ id }) => id === tool.id);
  if (exists && !replace)
    throw idTaken(`There is a tool "${tool.id}" already: repeat with --replace, or take another id`);
  await write(place.dataDir, [...others.filter(({ id }) => id !== tool.id), tool]);
  return customEntry(tool);
}

/**
 * Forgets a described tool. Its files are left alone.
 * @throws GatewayError `not_found`, or `conflict` while the gateway's entries are in its files
 */
export async function removeCustomTool(dataDir: string, id: string): Promise<void> {
  if (findTool(id) !== null)
    throw new GatewayError('invalid_request', `"${id}" is part of the catalog and cannot be removed`, {
      param: 'id',
    });
  const others = await readCustomTools(dataDir);
  if (!others.some((tool) => tool.id === id))
    throw new GatewayError('not_found', `No tool "${id.slice(0, 60)}" was added`);
  if (sinceRestore(await listBackups(dataDir, id)).length > 0)
    throw new GatewayError(
      'conflict',
      `The gateway's entries are in the configuration of "${id}": run \`gateway tools restore ${id}\` first`,
    );
  await write(
    dataDir,
    others.filter((tool) => tool.id !== id),
  );
}

/** @throws GatewayError for a file whose place is not known, or that is of the gateway itself */
function checkPlace(tool: CustomTool, { dataDir, machine }: Pick<ToolPlace, 'dataDir' | 'machine'>): void {
  const refuse = (problem: string) =>
    new GatewayError('invalid_request', `"file.path": ${problem}`, { param: 'file' });
  const problem = tool.file === undefined ? null : variableProblem(tool.file.path, machine);
  if (problem !== null) throw refuse(problem);
  const [file] = customEntry(tool).recipe.files;
  if (file !== undefined && locate(file, machine).startsWith(join(dataDir, '/')))
    throw refuse("lies in the gateway's own data directory");
}

function idTaken(message: string): GatewayError {
  return new GatewayError('conflict', message, { param: 'id' });
}

function problemOf(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const [issue] = issues;
  const path = (issue?.path ?? []).map(String).join('.');
  return `"${path === '' ? 'tool' : path.slice(0, 100)}": ${issue?.message ?? 'cannot be used'}`;
}

function parsed(bytes: Buffer, path: string): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw damaged(path, 'it is not JSON');
  }
}

function damaged(path: string, problem: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `${path}, the file of the tools that you added, cannot be read: ${problem}. Mend it or remove it`,
  );
}

async function write(dataDir: string, described: readonly CustomTool[]): Promise<void> {
  const text = `${JSON.stringify({ version: 1, tools: described }, null, 2)}\n`;
  await writeFileWhole(toolsFile(dataDir), Buffer.from(text), 0o600);
}

function toolsFile(dataDir: string): string {
  return join(dataDir, 'tools.json');
}
