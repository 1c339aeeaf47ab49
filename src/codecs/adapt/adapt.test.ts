import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import type { ConversationCodec } from '../codec.ts';
import { embedEncryptedReasoning, extractEncryptedReasoning } from '../encrypted-reasoning/embed.ts';
import { reasoningOwner } from '../encrypted-reasoning/owner.ts';
import { codecs } from '../index.ts';
import type { ConceptNames } from '../model/concept.ts';
import { type Conversation, emptyConversation } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import { openaiChat } from '../openai-chat/codec.ts';
import type { Codec } from '../wire-codec.ts';
import type { WireFormat } from '../wire-format.ts';
import { adapt } from './adapt.ts';

/** A codec of which only its name and what it can say matter. */
function codec(format: WireFormat, names: ConceptNames): Codec & { conversation: ConversationCodec } {
  const tools = { custom: false, namespaces: false, name: /^\w+$/, maxName: 64 };
  return {
    ...openaiChat,
    format,
    conversation: {
      names,
      tools,
      vendorOnly: [] as const,
    } as Partial<ConversationCodec> as ConversationCodec,
  };
}

const from = codec('anthropic-messages', { topK: 'top_k', candidates: 'n', cacheMarks: 'cache_control' });
const to = codec('openai-chat', {});
const adapted = (conversation: Partial<Conversation>) =>
  adapt(
    { ...emptyConversation('m'), ...conversation },
    { from, to, dialect: plainDialect, owner: 'a:gpt', model: 'm' },
  );
const refusal = (conversation: Partial<Conversation>) => {
  try {
    adapted(conversation);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return [error.code, error.status, error.param];
  }
  return null;
};

describe('what the target cannot express', () => {
  it('is reported under the client’s own name if it was only a hint', () => {
    const extras = { format: 'anthropic-messages' as const, fields: { context_management: {}, betas: [] } };
    assert.deepEqual(adapted({ topK: 40, extras }).dropped, ['betas', 'context_management', 'top_k']);
    assert.equal(adapted({ topK: 40, extras }).conversation.extras, null);
    assert.deepEqual(adapted({}).dropped, []);
  });

  it('has a cache key if the target finds its prompt cache by a key instead of marks', () => {
    const keyed = codec('openai-responses', { cacheKey: 'prompt_cache_key' });
    const keyOf = (conversation: Partial<Conversation>, target = keyed) => {
      const route = { from, to: target, dialect: plainDialect, owner: null, model: 'm' };
      return adapt({ ...emptyConversation('m'), ...conversation }, route).conversation.cacheKey;
    };
    const marked = {
      system: [{ type: 'text' as const, text: 's', cache: { ttl: null } }],
      userId: 'session',
    };
    assert.equal(keyOf(marked), 'session');
    assert.equal(keyOf({ ...marked, cacheKey: 'own' }), 'own');
    assert.equal(keyOf({ userId: 'session' }), null);
    assert.equal(keyOf(marked, to), null);
  });

  it('is not written if it is reported, not even by a codec that could express it', () => {
    const tiered = codec('gemini', { serviceTier: 'serviceTier' });
    tiered.conversation.vendorOnly = ['serviceTier'];
    const tierOn = (vendorFields: boolean) => {
      const dialect = { ...plainDialect, vendorFields };
      const tieredRequest = { ...emptyConversation('m'), serviceTier: 'flex' };
      const { conversation, dropped } = adapt(tieredRequest, {
        from,
        to: tiered,
        dialect,
        owner: null,
        model: 'm',
      });
      return [conversation.serviceTier, dropped];
    };
    assert.deepEqual(tierOn(false), [null, ['serviceTier']]);
    assert.deepEqual(tierOn(true), ['flex', []]);
  });

  it('is refused if the answer would mean something else', () => {
    assert.deepEqual(refusal({ candidates: 2 }), ['not_translatable', 400, 'n']);
    assert.equal(refusal({ candidates: 1 }), null);
    const countless = codec('openai-chat', { candidates: 'n', logprobs: 'logprobs', uploads: 'file_id' });
    const route = { from, to: countless, dialect: plainDialect, owner: null, model: 'm' };
    assert.throws(() => adapt({ ...emptyConversation('m'), candidates: 2 }, route), /"n"/);
    const computer = {
      kind: 'native',
      format: 'anthropic-messages',
      name: 'computer_20250124',
      value: {},
    } as const;
    assert.deepEqual(refusal({ tools: [computer] }), ['not_translatable', 400, 'tools']);
    assert.equal(
      refusal({ tools: [{ ...computer, format: 'openai-responses', name: 'local_shell' }] }),
      null,
    );
  });
});

describe('reasoning that another vendor encrypted', () => {
  it('loses its encrypted content, and is dropped if it has no other content', () => {
    const encrypted = { format: 'anthropic-messages', kind: 'signature', value: 's' } as const;
    const { conversation } = adapted({
      messages: [
        { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm', summary: false, encrypted }] },
        { role: 'assistant', parts: [{ type: 'reasoning', text: '', summary: false, encrypted }] },
      ],
    });
    assert.deepEqual(conversation.messages, [
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm', summary: false, encrypted: null }] },
    ]);
  });

  it('is unchanged if it is from the target’s own vendor', () => {
    const encrypted = { format: 'openai-chat', kind: 'encrypted', value: 's' } as const;
    const messages: Conversation['messages'] = [
      { role: 'assistant', parts: [{ type: 'reasoning', text: '', summary: false, encrypted }] },
    ];
    assert.deepEqual(adapted({ messages }).conversation.messages, messages);
  });
});

describe('encrypted reasoning', () => {
  const encrypted = (owner: string | null, format: WireFormat = 'openai-chat') =>
    adapted({
      messages: [
        {
          role: 'assistant',
          parts: [
            {
              type: 'reasoning',
              text: 'Hm.',
              summary: false,
              encrypted: { format, kind: 'encrypted', value: 'x', ...(owner === null ? {} : { owner }) },
            },
          ],
        },
      ],
    }).conversation.messages[0]?.parts[0];

  it('is sent to its own account and model family, or to any if its owner is unknown', () => {
    for (const owner of ['a:gpt', null]) {
      const part = encrypted(owner);
      assert.ok(part?.type === 'reasoning' && part.encrypted?.value === 'x');
    }
  });

  it('is not sent to another owner, but its readable part is', () => {
    for (const part of [encrypted('b:gpt'), encrypted('a:claude'), encrypted('a:gpt', 'anthropic-messages')])
      assert.ok(part?.type === 'reasoning' && part.encrypted === null && part.text === 'Hm.');
  });

  it('keeps its owner when it is embedded, which consists of the account and the model family', () => {
    const encrypted = { format: 'gemini', kind: 'signature', value: 'x', owner: 'a:gemini' } as const;
    assert.deepEqual(extractEncryptedReasoning(embedEncryptedReasoning(encrypted)), encrypted);
    assert.equal(reasoningOwner('a', 'anthropic/claude-opus-5'), 'a:claude');
    assert.equal(reasoningOwner('a', 'gpt-6.1-codex'), 'a:gpt');
  });
});

describe('a request with a field that only other vendors have', () => {
  it('is reported under that field', () => {
    const { conversation: chat } = openaiChat;
    assert.ok(chat !== null);
    const request = chat.decodeRequest({ model: 'm', messages: [], top_k: 4, web_search_options: {} });
    const route = {
      from: { ...openaiChat, conversation: chat },
      to,
      dialect: plainDialect,
      owner: null,
      model: 'm',
    };
    assert.deepEqual(adapt(request, route).dropped, ['top_k', 'web_search_options']);
  });
});

describe('every wire format with conversations', () => {
  for (const { conversation, format } of codecs) {
    if (conversation === null || format === 'openai-completions') continue;
    it(`can express tools, calls and images: ${format}`, () => {
      const names = conversation.names;
      assert.deepEqual(
        [names.tools, names.toolCalls, names.imageInput].map((name) => typeof name),
        ['string', 'string', 'string'],
      );
    });
  }
});
