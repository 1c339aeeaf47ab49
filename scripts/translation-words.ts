import type { Concept } from '../src/codecs/model/concept.ts';
import type { WireFormat } from '../src/codecs/wire-format.ts';

/** The parts of docs/translation.md that do not come from the codecs. */

export const meanings: Readonly<Record<Concept, string>> = {
  temperature: 'how random the answer is',
  topP: 'choosing among the tokens that make up a share of the probability',
  topK: 'choosing among the most likely tokens',
  stop: 'texts that end the answer',
  seed: 'a seed for random choices',
  frequencyPenalty: 'a penalty for frequent tokens',
  presencePenalty: 'a penalty for tokens that have occurred',
  candidates: 'more than one answer',
  logprobs: 'probabilities of tokens',
  reasoning: 'how much to reason',
  jsonOutput: 'any JSON object as the answer',
  schemaOutput: 'an answer that matches a schema',
  verbosity: 'how long the answer should be',
  userId: 'who the end user is',
  cacheKey: 'a key for the prompt cache',
  cacheMarks: 'marks for the prompt cache',
  serviceTier: 'a service tier',
  metadata: 'labels for the vendor’s records',
  store: 'storing the answer at the vendor',
  tools: 'tools that the model may call',
  strictTools: 'arguments that must match the schema of their tool',
  toolCalls: 'calls and results of earlier turns',
  imageInput: 'images',
  imageUrls: 'images that the provider has to fetch',
  imageDetail: 'how closely to look at an image',
  audioInput: 'audio',
  fileInput: 'documents other than text',
  fileNames: 'names of documents other than text',
  participants: 'which of several users is speaking',
  assistantNames: 'which of several assistants was speaking',
  citedDocuments: 'documents that the answer should cite',
  uploads: 'a file that was uploaded to the vendor',
  forcedCall: 'a call that the answer must contain',
  parallelToolCalls: 'one call at a time',
  allowedTools: 'calls of only some of the tools',
  webSearch: 'a search that the vendor runs',
  searchBesideTools: 'that search together with tools of the client',
  searchDomains: 'which domains to search',
  searchLocation: 'the user’s location for the search',
  searchUses: 'the most searches allowed',
  schemaDescription: 'a description of that schema',
};

/** What the gateway writes into requests of a format for clients of other formats, and the format’s own clients never use. */
export const unasked: Readonly<Partial<Record<WireFormat, readonly Concept[]>>> = {
  'anthropic-messages': ['cacheKey', 'jsonOutput'],
};

/** Below the table. */
export const models = `Some models accept less than their format: newer models of several vendors accept no temperature, older ones no
setting for how much to reason. Fields that a model is known not to accept are left out and named as well. If a provider refuses a
request because of another field that only tunes the answer, the gateway sends the request once more without that
field, and names it.`;

export const intro = `A request can be answered by a provider with another format: the gateway converts the request to the provider's format
and translates the answer back, streamed or whole. A provider that speaks the request's own format receives and
returns the bytes unchanged, and nothing on this page applies.

Formats cannot all express the same things. What a provider's format cannot express is **never dropped silently**:

- Fields that only tune the answer are left out, and the header \`x-gateway-dropped\` of the answer names them as the
  request does: \`x-gateway-dropped: logit_bias,seed\`.
- If a provider reports the most tokens that its model can write, and the request asked for more, the request is sent
  with that limit. The answer says so in \`x-gateway-lowered: max_tokens=8192\`; the next request to the model is
  lowered at once.
- The ledger keeps the names (\`dropped\` of a request), and \`gateway explain\` shows them. On a WebSocket they are in
  \`headers\` of the first event of the answer, where errors have their headers too.
- If a provider requires a user turn that the conversation does not have, it gets “Go on.”, and the answer says so in
  \`x-gateway-added: user-turn\`.
- If leaving something out would change what the answer means, the request is refused with 400 \`not_translatable\`;
  \`param\` names the field.

## See it

\`\`\`sh
# Anthropic's format has no seed: the answer comes with \`x-gateway-dropped: seed\`
curl -sD - http://127.0.0.1:20128/v1/chat/completions \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "anthropic/claude-sonnet-5", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}'

# Nor can it express several answers: 400, "param": "n"
curl -s http://127.0.0.1:20128/v1/chat/completions \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "anthropic/claude-sonnet-5", "n": 2, "messages": [{"role": "user", "content": "hi"}]}'
\`\`\`

**To see this before anything is sent**, add the header \`x-gateway-dry-run: 1\`. The request is processed like any other
up to the first attempt; no provider is called, nothing is charged or recorded. The answer lists the targets, best
first, each with what it would not receive as you sent it (\`dropped\`, \`lowered\`, \`added\`) or why it cannot be used
(\`error\`), and the targets that were skipped (\`skipped\`). The paths for images, audio, token counts and stored
responses refuse the header.

\`\`\`sh
curl -s http://127.0.0.1:20128/v1/chat/completions -H 'x-gateway-dry-run: 1' \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "auto", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}'
\`\`\`

The tables below do not show everything. The folders \`*.golden\` in \`test/translation/requests\` and \`src/codecs/*/fixtures\` have whole
requests and streams, each in every other format.

## Always carried

- Instructions and messages, in their order, with their roles.
- The texts of a message one by one, if the provider accepts a list of texts. If it accepts only a single one, the
  texts of a model or a tool are joined with nothing between them, and those of a client become paragraphs.
- The limit on the answer's tokens, and whether to stream. If a format allows a smaller range than another, the
  nearest value that it allows is sent.
- Documents that are text (by their type, or because they are given as text): as text under their name, if the format
  has no documents.
- Tools, if the format has any: definitions, the choice among them, calls and results with their ids. Names and ids
  that the provider would not accept are changed by fixed rules, and the answer has the client's own again. Tools with
  free text and tools in namespaces become plain functions where a format lacks them. A keyword of a tool's schema
  that the provider does not accept is named as \`tools.NAME.keyword\`.
- Which of the tools the model may call. All tools are sent, because the vendor’s prompt cache begins with them; if a
  provider's format cannot restrict calls to some of them, a sentence after the last message does. If the model calls
  any other tool, the client gets a sentence instead of the call.
- Anthropic’s search for tools (\`tool_search_tool_*\`) is left out and named, and all tools that it could find are
  sent.
- In answers: text, refusals, readable reasoning, calls, sources, the reason why the answer ended, and its tokens. A
  source that arrives after its text has ended is put in a text of its own at the end, if the format has no other
  place for it; so is a source without an address (a document) for clients of \`openai-chat\` and \`openai-responses\`,
  which have sources with addresses only. If the client asked for JSON, no such text is added, and these sources are
  lost.
- Numbers in arguments, results and schemas, digit by digit: \`1234567890123456789\`, \`1e400\`, \`-0\` and \`1.0\` arrive as
  written.
- Tool calls, whichever way a provider writes them. Arguments that are not a JSON object reach the client as the model
  wrote them; where a format requires an object, they are the text in \`{"raw_arguments": "…"}\`. If an answer is cut
  off inside a call, the partial call is left out where the format cannot express it, and the finish reason says that
  the answer was cut off. A call without a name is an error of the provider; clients of \`openai-completions\` get calls
  described as text.
- Searches that a vendor ran, with their results: in answers to clients of \`openai-responses\`, \`anthropic-messages\`
  and \`gemini\` (other clients see the sources that the text names; for clients of \`anthropic-messages\` a search with
  several queries becomes several searches, with the results in the last), and in earlier turns to providers of
  \`openai-responses\`. Other providers get them described as text, and the header names them.
- Images that a model made: to clients of \`openai-chat\` (\`images\`, as in OpenRouter's format), \`openai-responses\`,
  \`gemini\` and \`ollama\`; clients of other formats get a text saying that there is one. In earlier turns they move to
  the user’s next message where answers cannot contain images. Code that Google’s models ran, and its output, is text
  in other formats.
- Encrypted reasoning (signatures, encrypted items), unchanged, back to the provider that made it; see [decision
  5](decisions/0005-one-neutral-model-and-streams-only.md).

Fields that only the request's own format has are left out and named with their path (\`messages.content.citations\`),
at any depth, whether the gateway knows them or not; so are tools that only its vendor runs. An Anthropic tool of that
kind is refused instead, because the model would be told of abilities that it does not have.`;

/** What becomes of a format's requests, and how its providers are asked, beyond what the tables show. */
export const notes: Readonly<Partial<Record<WireFormat, { asking?: string[]; asked?: string[] }>>> = {
  'openai-chat': {
    asking: [
      'If the provider’s format has no names of participants, a separate text `Message from "NAME":` precedes each message of a user or an instruction, always in the same words; it is never removed again. The name of an assistant (`messages.name`) is left out and named, because models would start to write such labels themselves.',
      'Encrypted reasoning of other vendors is in `reasoning_details`, as in OpenRouter’s format: if the client sends it back with the message, the reasoning stays valid at the vendor that made it. Google’s signature of a call is on the call, as in Google’s own API.',
    ],
    asked: [
      'More than four `stop`s go to providers that are known to accept them. Others get the first four, and the field is named.',
      'A tool’s result is text: images in it follow in a user message, and a failed result begins with a mark, which is removed again when it comes back.',
      'Tools with free text are sent unchanged to providers that are known to accept them.',
      'Texts and whole results carry marks for the [prompt cache](prompt-caching.md); other marks are left out and named. Anthropic’s models get marks even if the client set none.',
      'Reasoning of earlier turns is sent under the provider’s own name for it, also in requests that need no translation. A provider that is known to refuse it gets none, and the gateway remembers one that refuses it. Reasoning that the provider itself encrypted (`reasoning_details`, Google’s `extra_content` on calls) goes back to it unchanged.',
    ],
  },
  'openai-responses': {
    asked: ['The limit on the answer is at least 16 tokens, the least that the vendor accepts.'],
  },
  'openai-completions': {
    asking: [
      '`prompt` is one user message. Several prompts, a prompt of token numbers, `suffix`, `echo` and `best_of` above 1 are refused, and the error names them.',
      'Without `max_tokens` the answer has at most 16 tokens: that is the format’s default.',
      'The client gets only text: a refusal is part of it, and reasoning is counted but not shown.',
    ],
    asked: [
      'The conversation becomes one text: `System:`, `User:` or `Assistant:` on a line of its own before each message, and the assistant’s turn last, with any beginning that the client gave. If a line of a message looks like such a label, it gets a space in front.',
      'If the request has fewer than four stops, `"\\n\\nUser:\\n"` is added.',
      'Without a limit in the request the answer has at most 2,048 tokens.',
    ],
  },
  gemini: {
    asking: [
      'Fields may be in camel case or in snake case. A call without an id gets one from its name and number; a result belongs to the call with its id, or else to the first unanswered call of its name.',
      '`cachedContent`, answers other than text, and the answer type `text/x.enum` are refused, and the error names them.',
      'Encrypted reasoning of other vendors is in `thoughtSignature`.',
    ],
    asked: [
      'Recursive schemas keep their references (`$ref` to `$defs`) where the inner object is optional; otherwise they are expanded to a fixed depth, and the schema is named.',
      'How much to think is a level for Gemini 3 and later, a budget for Gemini 2.5, and left out for older models. A model that cannot turn thinking off thinks as little as it can.',
      'Gemini 3 and later refuse a call in the current turn without one of their own signatures. A call that another model made gets `skip_thought_signature_validator` instead, which Google documents for this purpose.',
      'Images in a tool’s result stay in it for Gemini 3 and later; for older models they follow the results.',
      'A text with the name of a document or an image precedes it. At most five `stopSequences` are sent.',
      'A search that the vendor runs is left out if the request has functions. Instructions in the middle of a conversation become a `<system-reminder>` in the user’s turn.',
    ],
  },
  ollama: {
    asking: [
      'A request without `stream` gets a stream of lines. Options that only a local server has (`num_ctx`, `repeat_penalty`, `keep_alive`) are left out and named.',
      'A result belongs to the call with its id, or else to the first unanswered call of its tool, or else to the first call; a call without an id gets one from its name and number.',
      'An empty `messages`, which loads a model, is refused: the gateway loads no models.',
      'The client gets calls whole, and no sources. `done_reason` is `content_filter` if the provider refused, the durations are 0 because they are unknown, and the counters are those of the provider.',
    ],
    asked: [
      'A tool’s result is text: images in it follow in a user message, and a failed result begins with a mark, which is removed again when it comes back.',
      'If the client chooses one tool, the others are left out; that a tool must be called becomes an instruction.',
      'Reasoning of earlier turns is sent. How much to reason is `low`, `medium` or `high`; nothing is sent if the model should decide.',
    ],
  },
  'anthropic-messages': {
    asking: [
      'If the provider reports the input tokens at the end of a stream, `message_start` has the gateway’s estimate, and `message_delta` the provider’s count. The ledger has only the provider’s count.',
    ],
    asked: [
      'In requests that need no translation, thinking blocks without a signature go back to servers that sign none and expect them back. Anthropic’s own models refuse them, wherever they run: there they are left out, and named.',
      'The format requires a limit on the answer: without one in the request it is 8,192 tokens.',
      'If an answer’s schema has objects with arbitrary fields (`additionalProperties` that is not `false`), which the vendor does not accept, the schema becomes an instruction and is named.',
      '“Any JSON object” becomes an instruction. Instructions in the middle of a conversation become a `<system-reminder>` in the user’s turn.',
      'A temperature above 1 is sent as 1. With thinking the vendor accepts no `temperature`, no `top_k` and no narrow `top_p`; without it, it accepts `temperature` or `top_p`, not both. What is left out is named.',
      'If the client set no marks, the gateway sets them for the vendor’s [prompt cache](prompt-caching.md).',
      'The vendor’s models do not think where a tool must be called, and those before Claude Opus and Sonnet 4.6 do not think after a call that another model made, until the user’s next message: `thinking` is then off, and named. Later models decide themselves there.',
    ],
  },
};
