import { describe } from 'node:test';
import { prompt } from './model.ts';
import { proveSetups, type SetupCase } from './setup.ts';

const cases: readonly SetupCase[] = [
  { tool: 'claude', args: ['-p', prompt], env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } },
  {
    tool: 'codex',
    args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
  },
  { tool: 'opencode', args: ['run', '--auto', prompt] },
  { tool: 'qwen', args: ['--approval-mode', 'yolo', '-p', prompt] },
  { tool: 'copilot', args: ['-p', prompt, '--allow-all-tools', '--no-color'] },
  { tool: 'cline', args: ['--json', prompt] },
  { tool: 'cline-2', id: 'cline', version: '2.18.0', args: ['-y', '--json', prompt], exit: 1 },
  { tool: 'kilo', args: ['run', '--auto', prompt] },
  { tool: 'cn', id: 'continue', args: ['-p', prompt, '--auto'] },
  {
    tool: 'droid',
    args: ['exec', '-m', 'custom:modelgate', prompt],
    env: { FACTORY_AIRGAP_ENABLED: 'true' },
  },
  { tool: 'pi', args: ['-p', prompt] },
  { tool: 'grok', id: 'grok-build', args: ['-p', prompt, '--always-approve'] },
];

describe('a tool that was set up', () => proveSetups(cases));
