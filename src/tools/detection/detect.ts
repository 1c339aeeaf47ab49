import { stat } from 'node:fs/promises';
import type { Machine } from '../machine.ts';
import type { Detection } from '../schema.ts';
import type { Tool } from '../tool.ts';
import { type Binary, binaryStamp, findBinary, packageVersion } from './binary.ts';
import { findExtension } from './editors.ts';
import { locateFiles } from './locations.ts';
import { probeVersion, type VersionQuestion } from './probe.ts';

/** How long one tool may take. */
const DETECTION_MS = 5000;
/** How long what is known by then may take to be put together: removing a folder, reading a package. */
const CLEARING_MS = 250;

/** A program that is looked for: that of a coding tool, or of an agent. */
export interface Detectable extends Pick<Tool, 'id' | 'binaries'> {
  extension?: string;
  /** Its files: it is asked again when they have changed. */
  recipe?: Tool['recipe'];
  /** Null for a program that cannot be asked for its version. */
  version?: VersionQuestion | null;
}

/** Finds out which tools are there. It remembers what it found while the tool's files are the same. */
export interface Detector {
  detect(tool: Detectable): Promise<Detection>;
  /** All at once. */
  detectAll(tools: readonly Detectable[]): Promise<Map<string, Detection>>;
  /** What is known without running it: where it is, and its version from an earlier detection or its npm package. */
  withoutRunning(tool: Detectable): Promise<Detection>;
  /** What is known of its version without running it: from an earlier detection, or from its npm package. */
  knownVersion(tool: Tool): Promise<string | null>;
  /** Forgets everything, to detect newly installed programs. */
  refresh(): void;
}

interface StampedDetection {
  stamp: string;
  detection: Detection;
}

export function createDetector(machine: Machine, timeoutMs = DETECTION_MS): Detector {
  const remembered = new Map<string, StampedDetection>();
  const look = async (tool: Detectable, onBinary: (binary: Binary) => void): Promise<Detection> => {
    const started = performance.now();
    const binary = await findBinary(tool.binaries, machine);
    if (binary === null) return detectExtension(tool, machine);
    onBinary(binary);
    const stamp = await stampOf(tool, binary, machine);
    const cached = remembered.get(tool.id);
    if (cached?.stamp === stamp) return cached.detection;
    const left = Math.max(timeoutMs - (performance.now() - started), 1);
    const { detection, final } = await examine(binary, tool.version, machine, left);
    // A program that was slow once may answer the next time.
    if (final) remembered.set(tool.id, { stamp, detection });
    return detection;
  };
  const detect = (tool: Detectable) => {
    let foundBinary: Binary | null = null;
    const detection = look(tool, (binary) => {
      foundBinary = binary;
    });
    return withDeadline(detection, timeoutMs, () => tooSlow(foundBinary, timeoutMs));
  };
  const detectNow = async (tool: Detectable): Promise<Detection> => {
    const binary = await findBinary(tool.binaries, machine);
    if (binary === null) return { installed: false, runnable: false };
    const earlier = remembered.get(tool.id);
    if (earlier?.stamp === (await stampOf(tool, binary, machine))) return earlier.detection;
    const version = await packageVersion(binary.path, machine);
    const place = { installed: true, command: binary.command, commandPath: binary.path, runnable: true };
    return version === null ? place : { ...place, version };
  };
  return {
    detect,
    detectAll: async (tools) => {
      const detections = await Promise.all(tools.map(async (tool) => [tool.id, await detect(tool)] as const));
      return new Map(detections);
    },
    withoutRunning: detectNow,
    // Versions matter only where their recipes differ.
    knownVersion: async (tool) =>
      tool.formerRecipes === undefined ? null : ((await detectNow(tool)).version ?? null),
    refresh: () => remembered.clear(),
  };
}

/**
 * What was found out, or what is known when it took too long: a folder on a network that does not answer holds up no other
 * tool.
 */
export async function withDeadline(
  detection: Promise<Detection>,
  timeoutMs: number,
  fallback: () => Detection = () => tooSlow(null, timeoutMs),
): Promise<Detection> {
  const { promise, resolve } = Promise.withResolvers<Detection>();
  const timer = setTimeout(() => resolve(fallback()), timeoutMs + CLEARING_MS);
  try {
    return await Promise.race([detection, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** @param binary where the program was found before the time was over; null when it was still looked for */
function tooSlow(binary: Binary | null, timeoutMs: number): Detection {
  const seconds = Math.ceil(timeoutMs / 1000);
  if (binary === null)
    return {
      installed: false,
      runnable: false,
      reason: `looking for it took longer than ${seconds} seconds`,
    };
  const { command, path } = binary;
  const reason = `it did not answer --version within ${seconds} seconds`;
  return { installed: true, command, commandPath: path, runnable: false, reason };
}

/** Whether its program or its extension is here. Nothing is run. */
export async function isInstalled({ binaries, extension }: Tool, machine: Machine): Promise<boolean> {
  if ((await findBinary(binaries, machine)) !== null) return true;
  return extension !== undefined && (await findExtension(extension, machine)).length > 0;
}

async function detectExtension({ extension }: Detectable, machine: Machine): Promise<Detection> {
  const [newest] = extension === undefined ? [] : await findExtension(extension, machine);
  if (newest === undefined) return { installed: false, runnable: false };
  const version = newest.version === null ? {} : { version: newest.version };
  return { installed: true, runnable: true, commandPath: newest.path, ...version };
}

async function examine(
  binary: Binary,
  question: Detectable['version'],
  machine: Machine,
  timeoutMs: number,
): Promise<{ detection: Detection; final: boolean }> {
  const place = { installed: true, command: binary.command, commandPath: binary.path };
  if (question === null) {
    const packaged = await packageVersion(binary.path, machine);
    const named = packaged === null ? {} : { version: packaged };
    return { detection: { ...place, runnable: true, ...named }, final: true };
  }
  const probe = await probeVersion(binary, machine, timeoutMs, question);
  if (probe.ok) return { detection: { ...place, runnable: true, version: probe.version }, final: true };
  const version = await packageVersion(binary.path, machine);
  const versionField = version === null ? {} : { version };
  return { detection: { ...place, runnable: false, ...versionField, reason: probe.reason }, final: false };
}

/** Changes with the program and with the configuration. */
async function stampOf({ recipe }: Detectable, binary: Binary, machine: Machine): Promise<string> {
  const files = recipe === undefined ? [] : await locateFiles(recipe, machine);
  const times = files.map(async ({ path }) => {
    const stats = await stat(path).catch(() => null);
    return String(stats?.mtimeMs ?? 0);
  });
  return [binary.path, await binaryStamp(binary.path), ...(await Promise.all(times))].join('\n');
}
