import type { Concept } from '../src/codecs/model/concept.ts';
import type { WireFormat } from '../src/codecs/wire-format.ts';

/** The words of docs/translation.md that no code holds. */

export const endpoints: Readonly<Record<WireFormat, string>> = {
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
  'openai-completions': '/v1/completions',
  'openai-embeddings': '/v1/embeddings',
  'anthropic-messages': '/v1/messages',
  gemini: '/v1beta/models/MODEL:generateContent',
  ollama: '/api/chat',
  'openai-images': '/v1/images/generations',
  'openai-image-edits': '/v1/images/edits',
  'openai-speech': '/v1/audio/speech',
  'openai-transcriptions': '/v1/audio/transcriptions',
  'openai-translations': '/v1/audio/translations',
  'openai-moderations': '/v1/moderations',
  rerank: '/v1/rerank',
};

export const meanings: Readonly<Record<Concept, string>> = {
  temperature: 'how much chance',
  topP: 'choosing among the tokens that make up so much of the likelihood',
  topK: 'choosing among the likeliest tokens',
  stop: 'texts that end the answer',
  seed: 'a seed for chance',
  frequencyPenalty: 'a penalty for frequent tokens',
  presencePenalty: 'a penalty for tokens that occurred',
  candidates: 'more than one answer',
  logprobs: 'probabilities of tokens',
  reasoning: 'how much to reason',
  jsonOutput: 'any JSON object as the answer',
  schemaOutput: 'an answer that fits a schema',
  verbosity: 'how long the answer shall be',
  userId: 'who the end user is',
  cacheKey: 'a key for the prompt cache',
  cacheMarks: 'marks of what to keep in the prompt cache',
  serviceTier: 'a tier of service',
  metadata: 'labels for the vendor’s records',
  store: 'keeping the answer at the vendor',
  tools: 'tools that the model may call',
  strictTools: 'arguments that are held to the schema of their tool',
  toolCalls: 'calls and results of earlier turns',
  imageInput: 'images',
  imageUrls: 'images that the provider has to fetch',
  imageDetail: 'how closely to look at an image',
  audioInput: 'sound',
  fileInput: 'documents that are more than text',
  fileNames: 'names of documents that are more than text',
  participants: 'which of several users speaks',
  assistantNames: 'which of several assistants spoke',
  citedDocuments: 'documents that the answer shall cite',
  uploads: 'a file that was uploaded to the vendor',
  forcedCall: 'a call that the answer must have',
  parallelToolCalls: 'one call at a time',
  allowedTools: 'calls of some of the tools alone',
  webSearch: 'a search that the vendor runs',
  searchBesideTools: 'that search beside tools of the caller',
  searchDomains: 'where to search',
  searchLocation: 'from where to search',
  searchUses: 'how often to search at most',
  schemaDescription: 'what an answer that fits a schema is for',
};

/** What requests of a format are written with for callers of others, and its own callers never ask for. */
export const unasked: Readonly<Partial<Record<WireFormat, readonly Concept[]>>> = {
  'anthropic-messages': ['cacheKey', 'jsonOutput'],
};

/** Below the table. */
export const models = `Some models take less than their format: newer ones of several vendors take no temperature, older ones no word for how
much to reason. What the gateway knows a model to lack is left out and named as well. What it does not know, a provider
says: a request that is refused for a member that only tunes the answer is sent once more without it, and the member is
named.`;

export const intro = `A request in one format can be answered by a provider of another: the gateway reads it, says the same in the provider's
format, and brings the answer back, streamed or whole. A provider that speaks the request's own format gets and gives the
very bytes, and none of this page applies.

Formats do not all have words for the same things. What a provider cannot be told is **never dropped in silence**:

- What only tunes the answer is left out, and the answer says so in the header \`x-gateway-dropped\`, in the words of the
  request: \`x-gateway-dropped: logit_bias,seed\`.
- A provider that names the most that its model writes, and was asked for more, is asked for that. The answer says so in
  \`x-gateway-lowered: max_tokens=8192\`; the next request to the model is lowered at once.
- The names are kept in the ledger (\`dropped\` of a request) and shown by \`gateway explain\`. On a WebSocket the first event
  of the answer has them in \`headers\`, as errors there have theirs.
- Where a provider wants a turn of the user that the conversation does not have, it gets “Go on.”, and the answer says so in
  \`x-gateway-added: user-turn\`.
- What would make the answer mean something else is refused with 400 \`not_translatable\`; \`param\` names it.

## See it

\`\`\`sh
# Anthropic's format has no seed: the answer comes, with \`x-gateway-dropped: seed\`
curl -sD - http://127.0.0.1:20128/v1/chat/completions \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "anthropic/claude-sonnet-5", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}'

# and no second answer: 400, "param": "n"
curl -s http://127.0.0.1:20128/v1/chat/completions \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "anthropic/claude-sonnet-5", "n": 2, "messages": [{"role": "user", "content": "hi"}]}'
\`\`\`

**Before anything is sent** the header \`x-gateway-dry-run: 1\` asks what would become of a request. It goes the way of every
request up to the first attempt; no provider is asked, nothing is charged or written down. The answer has the targets, best
first, each with what it would not be told (\`dropped\`, \`lowered\`, \`added\`) or why it cannot be asked (\`error\`), and
those that were passed over (\`skipped\`). Paths of pictures, sound, counts and kept responses refuse the header.

\`\`\`sh
curl -s http://127.0.0.1:20128/v1/chat/completions -H 'x-gateway-dry-run: 1' \\
  -H "authorization: Bearer $MODELGATE_KEY" -H 'content-type: application/json' \\
  -d '{"model": "auto", "seed": 7, "messages": [{"role": "user", "content": "hi"}]}'
\`\`\`

What the table below does not show is to be read in \`test/translation/golden\`: whole
requests and streams, each in every other format.

## Always carried

- Instructions and messages, in their order, with who said them.
- The texts of a message one by one, where the provider takes a list of texts. Where it takes a single one, what a model or
  a tool wrote is put together with nothing between, and the blocks of a client's own text become paragraphs.
- The bound on the answer's tokens, and whether to stream. Where a format allows less than
  another, the value is the nearest that it takes.
- Documents that are text (of a type that says so, or written as text), as text under their name where the format has no
  documents.
- Tools where the format has any: definitions, the choice among them, calls and results with their ids. A name or an id that the
  provider would not take is changed by rule, and the answer has the caller's own again. Tools with free text and tools in
  namespaces become plain functions where a format lacks them. A keyword of a tool's schema that the provider does
  not take is named as \`tools.NAME.keyword\`.
- Which of the tools may be called. All of them are sent, for the vendor’s prompt cache begins with them; a provider without a
  word for some of them is told in a sentence behind the last message. Of a call of any other tool the caller gets a sentence.
- Anthropic’s search for tools (\`tool_search_tool_*\`) is left out and named, and the tools that it would find are all sent.
- In answers: text, refusals, reasoning that may be read, calls, sources, why the answer ended, and the tokens that it cost.
  A source that is named after its text has ended stands in a text of its own at the end, where the format has no other place,
  and so does one without an address (a document) for callers of \`openai-chat\` and \`openai-responses\`, which can name
  addresses alone. In JSON that was asked for there is no such text, and these sources are lost.
- Numbers in arguments, results and schemas with the digits in which they were written: \`1234567890123456789\`, \`1e400\`,
  \`-0\` and \`1.0\` arrive as that.
- Every call of a tool, whichever way a provider writes it. Arguments that are no JSON object reach the caller as the model
  wrote them; where a format wants an object, they are the text in \`{"raw_arguments": "…"}\`. Half a call, inside which an
  answer was cut off, is left out where it cannot be said, and the reason of the end tells. A call without a name is an
  error of the provider; to callers of \`openai-completions\` a call is told in words.
- Searches that a vendor made, with what they found: in answers to callers of \`openai-responses\`, \`anthropic-messages\` and
  \`gemini\` (others see the sources that the text names; a search for several things is several for callers of
  \`anthropic-messages\`, with what was found in the last), and in earlier turns to providers of \`openai-responses\`. Other
  providers are told of them in words, and the header names them.
- Pictures that a model made, to callers of \`openai-chat\` (\`images\`, as OpenRouter has it), \`openai-responses\`, \`gemini\` and
  \`ollama\`; callers of the others are told in words that there is one. In earlier turns they stand in the user’s next message
  where answers cannot hold any. Code that Google’s models ran, and what it printed, is text to others.
- Sealed reasoning (signatures, encrypted items) unchanged, back to who made it; see
  [decision 5](decisions/0005-one-neutral-model-and-streams-only.md).

Members that only the request's own format knows are left out and named by their own name and where they stand
(\`messages.content.citations\`), at any depth, known to the gateway or not; so are tools that only its vendor runs. An Anthropic tool of that kind is refused instead: the model would be told of abilities that nobody has.`;

/** What becomes of a format's requests, and how its providers are asked, beyond what the tables show. */
export const notes: Readonly<Partial<Record<WireFormat, { asking?: string[]; asked?: string[] }>>> = {
  'openai-chat': {
    asking: [
      'Where the provider’s format has no names of participants, `Message from "NAME":` stands as a text of its own before what a user or an instruction says, the same every time; nothing takes it off again. The name of an assistant (`messages.name`) is left out and named: models would write the like themselves.',
      'What another vendor sealed stands in `reasoning_details`, as OpenRouter has it: a client that sends the message back with them keeps the reasoning valid where it came from. Google’s seal of a call stands on the call, as on Google’s own surface.',
    ],
    asked: [
      'More than four `stop`s go to providers that are known to take them. Others are sent the first four, and the member is named.',
      'A tool’s result is text: images in it follow in a message of the user, and a failed result begins with a mark, which is taken off again when it comes back.',
      'Tools with free text go as they are to providers that are known to take them.',
      'Marks for the [prompt cache](prompt-caching.md) stand on texts and on whole results; others are left out and named. Anthropic’s models get them also where the client set none.',
      'Reasoning of earlier turns is sent under the provider’s own name for it, also in requests that are passed on in this format. A provider that is known to refuse it gets none, and one that refuses it is remembered. What a provider sealed itself (`reasoning_details`, Google’s `extra_content` on calls) goes back to it as it came.',
    ],
  },
  'openai-responses': {
    asked: ['The bound on the answer is at least 16 tokens, the least that the vendor takes.'],
  },
  'openai-completions': {
    asking: [
      '`prompt` is one message of the user. Several prompts, a prompt of token numbers, `suffix`, `echo` and `best_of` above 1 are refused by their names.',
      'Without `max_tokens` the answer has 16 tokens at most: that is what the format means.',
      'The caller sees text alone: a refusal is part of it, and reasoning is counted but not shown.',
    ],
    asked: [
      'The conversation is one text: `System:`, `User:` or `Assistant:` on a line of its own before what each said, and the assistant’s turn last, with what the caller began of it. A line in a message that is such a label gets a space before it.',
      'Where the request has fewer than four stops, `"\\n\\nUser:\\n"` is one more.',
      'Without a bound in the request the answer has 2,048 tokens at most.',
    ],
  },
  gemini: {
    asking: [
      'Members are read in camel case and in snake case. A call without an id gets one from its name and number; a result answers the call with its id, else the first of its name that waits.',
      '`cachedContent`, answers other than text, and the answer type `text/x.enum` are refused by their names.',
      'Sealed reasoning of other makers stands in `thoughtSignature`.',
    ],
    asked: [
      'Schemas that hold themselves keep their references (`$ref` to `$defs`) where an object can do without the one inside it; else they are written out to a depth, which is named.',
      'How much to think is a level for Gemini 3 and later, a budget for Gemini 2.5, and left out for older models. A model that cannot do without thinking thinks as little as it can.',
      'Gemini 3 and later refuse a call of the current turn that no signature of theirs goes with. A call that another model made has `skip_thought_signature_validator` in its place, which Google documents for this.',
      'Images in a tool’s result stay in it for Gemini 3 and later; for older models they follow the results.',
      'The name of a document or a picture stands in a text before it. At most five `stopSequences` are sent.',
      'A search that the vendor runs is left out beside functions. Instructions in the middle of a conversation become a `<system-reminder>` in the user’s turn.',
    ],
  },
  ollama: {
    asking: [
      'A request that does not say `stream` gets a stream of lines. Options that only a local server has (`num_ctx`, `repeat_penalty`, `keep_alive`) are left out by their names.',
      'A result answers the call with its id, else the first of its tool that waits, else the first call; a call without an id gets one from its name and number.',
      'An empty `messages`, which loads a model, is refused: none is loaded here.',
      'The caller sees calls whole, and no sources. `done_reason` is `content_filter` where the provider refused, the durations are 0 for unknown, and the counters are those of the provider.',
    ],
    asked: [
      'A tool’s result is text: images in it follow in a message of the user, and a failed result begins with a mark, which is taken off again when it comes back.',
      'A choice of one tool leaves the others out; that one must be called is an instruction.',
      'Reasoning of earlier turns is sent. How much to reason is `low`, `medium` or `high`; nothing is said where the model shall decide.',
    ],
  },
  'anthropic-messages': {
    asking: [
      'Where the provider counts the input at the end of a stream, `message_start` has the gateway’s estimate of it, and `message_delta` the provider’s count. The ledger has that alone.',
    ],
    asked: [
      'In requests that are passed on in this format, thoughts without a signature go back to servers that sign none, and want them back. Anthropic’s own models refuse them, wherever they run: there they are left out, and named.',
      'The format demands a bound on the answer: without one in the request it is 8,192 tokens.',
      'An answer’s schema with objects of any entries (`additionalProperties` that is not `false`) becomes an instruction, for the vendor takes none of these, and is named.',
      '“Any JSON object” becomes an instruction. Instructions in the middle of a conversation become a `<system-reminder>` in the user’s turn.',
      'A temperature above 1 is sent as 1. Beside thinking the vendor takes no `temperature`, no `top_k` and no narrow `top_p`, and without it `temperature` or `top_p`, not both: what is left out is named.',
      'Where the client set none, marks say what to keep in the vendor’s [prompt cache](prompt-caching.md).',
      'Nor does it think where a tool must be called, and models before Claude Opus and Sonnet 4.6 do not think on after a call that another model made, until the user’s next message: `thinking` is then off, and named. Later ones think as they see fit there.',
    ],
  },
};
