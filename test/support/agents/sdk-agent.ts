/** An agent made with the protocol's own SDK, which checks everything that it is sent. */
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

let cancelled = () => {};

agent({ name: 'sdk-agent' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false, sessionCapabilities: { close: {} } },
    agentInfo: { name: 'sdk-agent', version: '9.8.7' },
  }))
  .onRequest('session/new', () => ({
    sessionId: 'sdk-session',
    configOptions: [
      {
        id: 'model',
        name: 'Model',
        category: 'model',
        type: 'select',
        currentValue: 'small',
        options: ['small', 'large'].map((value) => ({ value, name: value })),
      },
    ],
  }))
  .onRequest('session/set_config_option', ({ params }) => {
    if (params.value !== 'large') throw new Error(`unexpected value ${String(params.value)}`);
    return { configOptions: [] };
  })
  .onRequest('session/close', () => ({}))
  .onRequest('session/prompt', async ({ client, params: { prompt, sessionId } }) => {
    const say = (text: string) =>
      client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      });
    const asked = prompt.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
    if (asked === 'wait') {
      await say('waiting');
      await new Promise<void>((resolve) => {
        cancelled = resolve;
      });
      return { stopReason: 'cancelled' };
    }
    await client
      .request('fs/write_text_file', { sessionId, path: `${process.cwd()}/x`, content: 'x' })
      .catch(() => {});
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall: { toolCallId: 'c', title: 'Run ls', kind: 'execute', status: 'pending' },
      options: [
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    });
    const terminal = await client.createTerminal({ sessionId, command: 'echo', args: ['from the terminal'] });
    await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    await say(`${asked} ${JSON.stringify(outcome)} ${output}`);
    return { stopReason: 'end_turn' };
  })
  .onNotification('session/cancel', () => cancelled())
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
