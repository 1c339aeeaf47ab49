import type { Tool } from '../../tool.ts';
import { aider } from './aider.ts';
import { antigravity } from './antigravity.ts';
import { claude } from './claude.ts';
import { cline } from './cline.ts';
import { codewhale } from './codewhale.ts';
import { codex } from './codex.ts';
import { continueTool } from './continue.ts';
import { copilot } from './copilot.ts';
import { crush } from './crush.ts';
import { cursor } from './cursor.ts';
import { cursorCli } from './cursor-cli.ts';
import { custom } from './custom.ts';
import { deepseekTui } from './deepseek-tui.ts';
import { droid } from './droid.ts';
import { forge } from './forge.ts';
import { grokBuild } from './grok-build.ts';
import { hermes } from './hermes.ts';
import { jcode } from './jcode.ts';
import { kilo } from './kilo.ts';
import { kiro } from './kiro.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';
import { roo } from './roo.ts';
import { smelt } from './smelt.ts';

/** The coding tools, in the order in which they are listed. */
export const codeTools: readonly Tool[] = [
  claude,
  codex,
  cline,
  kilo,
  roo,
  continueTool,
  aider,
  forge,
  jcode,
  deepseekTui,
  codewhale,
  opencode,
  droid,
  copilot,
  cursorCli,
  smelt,
  pi,
  grokBuild,
  crush,
  qwen,
  cursor,
  antigravity,
  hermes,
  kiro,
  custom,
];
