import { z } from 'zod';
import type { Api, ApiBody } from './api.ts';

/** Something that an assistant can do with the gateway. */
export interface GatewayTool<Input extends z.ZodObject = z.ZodObject> {
  /** As the assistant calls it: `list_models`. */
  name: string;
  title: string;
  /** What it does and when to use it, for the assistant. */
  description: string;
  input: Input;
  /** Who may: a permission of the management API. Others are not shown the tool. */
  permission: string;
  /** `replaces`: what was there before is lost. */
  effect: 'reads' | 'adds' | 'replaces';
  run(input: z.infer<Input>, api: Api): Promise<ApiBody>;
}

/** Declares a tool with an input of its own. */
export function tool<Input extends z.ZodObject>(declared: GatewayTool<Input>): GatewayTool {
  return declared;
}

/** A time, as the API takes it. What the API says of a wrong one costs the assistant fewer tokens than a pattern would. */
export const time = z.string().max(40);
