import { describe } from 'node:test';
import { prompt, upstreams } from './model.ts';
import { proveSetups, type SetupCase } from './setup.ts';

const cases: readonly SetupCase[] = [
  { tool: 'openclaw', args: ['agent', 'exec', prompt] },
  { tool: 'omp', args: ['-p', prompt] },
  {
    tool: 'letta',
    args: ['-p', prompt, '--new-agent', '--model', `openai-compatible/${upstreams.chat.model}`],
    env: { LETTA_CODE_TELEM: '0' },
  },
];

describe('an agent that was set up', () => proveSetups(cases));
