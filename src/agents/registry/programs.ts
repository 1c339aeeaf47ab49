import { createDetector, type Detectable } from '../../tools/detection/detect.ts';
import type { Machine } from '../../tools/machine.ts';
import type { AgentDefinition } from '../definition.ts';
import type { ProgramInfo } from './row.ts';

/** Finds the programs of agents on this machine. */
export interface AgentPrograms {
  /** Where a program is, and what is known of its version. Nothing is run. */
  find(definition: AgentDefinition): Promise<ProgramInfo>;
  /** Asks all programs for their versions, side by side and for five seconds at most; an answer counts until the program changes. */
  ask(definitions: readonly AgentDefinition[]): Promise<void>;
  /** Forgets what the programs answered. */
  forget(): void;
}

export function agentPrograms(machine: Machine): AgentPrograms {
  const detector = createDetector(machine);
  return {
    find: (definition) => detector.withoutRunning(detectable(definition)),
    ask: async (definitions) => void (await detector.detectAll(definitions.map(detectable))),
    forget: detector.refresh,
  };
}

function detectable({ binary, id, version }: AgentDefinition): Detectable {
  return { id, binaries: [binary], version };
}
