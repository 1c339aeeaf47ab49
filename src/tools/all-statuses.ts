import type { ToolPlace } from './configuring/configure.ts';
import type { Detector } from './detection/detect.ts';
import { forVersion } from './detection/version.ts';
import type { ToolBatchStatus } from './schema.ts';
import { batchStatus, readToolConfig } from './status.ts';
import type { Tool } from './tool.ts';

export interface ToolStatus extends ToolBatchStatus {
  id: string;
  name: string;
  /** The model that the tool is set to; null when it has none. */
  model: string | null;
  /** Configuration files, whether they exist or not. */
  paths: string[];
  /** Entries that no longer are what the gateway writes, where the address still is. */
  drifted: string[];
}

export interface StatusInput {
  tools: readonly Tool[];
  detector: Detector;
  /** Addresses that are this gateway. */
  gateways: readonly string[];
}

/** Which tools are installed and which endpoint they use, all at once. It never fails: what goes wrong stands in the status. */
export async function allStatuses(place: ToolPlace, input: StatusInput): Promise<ToolStatus[]> {
  const { detector, gateways, tools } = input;
  return Promise.all(
    tools.map(async (tool) => {
      const detection = await detector.detect(tool);
      const config = await readToolConfig(place, forVersion(tool, detection.version ?? null), gateways);
      const { drifted, model, paths } = config;
      return {
        id: tool.id,
        name: tool.name,
        ...batchStatus(tool.id, detection, config),
        model,
        paths,
        drifted,
      };
    }),
  );
}
