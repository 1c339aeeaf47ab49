import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentsOf } from '../../adapt/call-arguments.ts';
import { isStructured, withLateCitations } from '../../adapt/late-citations.ts';
import { embedEncryptedReasoning } from '../../encrypted-reasoning/embed.ts';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import type {
  AnswerContext,
  Citation,
  ImageSource,
  PartWriter,
  StreamPart,
} from '../../model/stream-part.ts';
import { withTextFallback } from '../../model/text-fallback.ts';
import { doneFrame, ValueFrame } from '../../stream/frames.ts';
import type { Usage } from '../../wire-format.ts';
import { IMAGE_CALL } from '../image-call.ts';
import { searchesTools, TOOL_SEARCH } from '../request/tools-decode.ts';
import { itemOfSearch } from '../search.ts';
import type { ResponsesItem, ResponsesRequest, TextOption } from '../wire.ts';
import { responseShell } from './shell.ts';

/** A block of the answer as the output item that it becomes. */
interface OpenItem {
  kind: 'text' | 'refusal' | 'reasoning' | 'tool-call' | 'custom' | 'search';
  index: number;
  item: ResponsesItem & { id: string };
  text: string;
  annotations: JsonObject[];
  /** Citations of the whole text, which is known at its end. */
  cited: Citation[];
}

/** Events that carry a block's text: as it grows, and whole. */
const textEvents = {
  text: { type: 'response.output_text', field: 'text', extra: { logprobs: [] } },
  refusal: { type: 'response.refusal', field: 'refusal', extra: {} },
  reasoning: { type: 'response.reasoning_summary_text', field: 'text', extra: {} },
  'tool-call': { type: 'response.function_call_arguments', field: 'arguments', extra: {} },
  custom: { type: 'response.custom_tool_call_input', field: 'input', extra: {} },
} as const;

/**
 * Writes an answer as a responses stream: one item for each block, numbered without gaps, and the
 * whole output again in the terminal event. Readable reasoning becomes a summary, which is what clients show.
 */
class ResponsesWriter implements PartWriter {
  readonly #context: AnswerContext;
  readonly #id: string;
  /** What every response object of the answer has. */
  readonly #shell: JsonObject;
  readonly #open = new Map<number, OpenItem>();
  readonly #output: ResponsesItem[] = [];
  /** Whether calls of that name are no function's but of the search for tools. */
  readonly #searches: boolean;
  #sequence = 0;
  #cut = false;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#id = context.id.replace(/^[a-z]+_/, '');
    this.#shell = responseShell(context);
    this.#searches = searchesTools(context.request);
  }

  push(part: StreamPart): Frame[] {
    switch (part.type) {
      case 'message-start': {
        const response = this.#response('in_progress', null, null);
        return [
          ...this.#event('response.created', { response }),
          ...this.#event('response.in_progress', { response }),
        ];
      }
      case 'text-start':
      case 'refusal-start':
        return this.#openMessage(part.block, part.type === 'text-start' ? 'text' : 'refusal');
      case 'reasoning-start':
        return this.#openReasoning(part.block);
      case 'tool-call-start':
        return this.#openCall(part);
      case 'text-delta':
      case 'refusal-delta':
      case 'reasoning-delta':
      case 'tool-call-delta':
        return this.#grow(part.block, part.text);
      case 'text-end':
      case 'refusal-end':
        return this.#closeMessage(part.block);
      case 'reasoning-end':
        return this.#closeReasoning(part.block, part.encrypted);
      case 'tool-call-end':
        return this.#closeCall(part.block, part.complete);
      case 'citation':
        return this.#annotate(part);
      case 'search':
        return this.#hosted({ id: this.#itemId('ws'), ...itemOfSearch(part.search) }, 'searching');
      case 'image':
        return this.#image(part.source);
      case 'native':
        return part.format === 'openai-responses' ? this.#whole(part.value) : [];
      case 'message-end':
        return this.#end(part);
      case 'error':
        return [];
    }
  }

  #event(type: string, data: JsonObject): Frame[] {
    const sequence_number = this.#sequence;
    this.#sequence += 1;
    return [new ValueFrame(type, { type, sequence_number, ...data })];
  }

  /** Takes the next place in the output and announces the item as `added`. */
  #add(block: number, kind: OpenItem['kind'], item: ResponsesItem & { id: string }): Frame[] {
    const index = this.#output.length;
    this.#output.push(item);
    this.#open.set(block, { kind, index, item, text: '', annotations: [], cited: [] });
    return this.#event('response.output_item.added', { output_index: index, item });
  }

  #itemId(prefix: string): string {
    return `${prefix}_${this.#id}_${this.#output.length}`;
  }

  #openMessage(block: number, kind: 'text' | 'refusal'): Frame[] {
    const id = this.#itemId('msg');
    const added = this.#add(block, kind, {
      id,
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    });
    const part = partOf(kind, '', []);
    const place = { ...this.#place(block), content_index: 0 };
    return [...added, ...this.#event('response.content_part.added', { ...place, part })];
  }

  #openReasoning(block: number): Frame[] {
    const id = this.#itemId('rs');
    return this.#add(block, 'reasoning', { id, type: 'reasoning', status: 'in_progress', summary: [] });
  }

  #openCall(part: Extract<StreamPart, { type: 'tool-call-start' }>): Frame[] {
    const custom = part.kind === 'custom';
    if (this.#searches && part.name === TOOL_SEARCH && part.namespace === undefined)
      return this.#openSearch(part);
    return this.#add(part.block, custom ? 'custom' : 'tool-call', {
      id: this.#itemId(custom ? 'ctc' : 'fc'),
      type: custom ? 'custom_tool_call' : 'function_call',
      status: 'in_progress',
      call_id: part.id,
      ...(part.namespace === undefined ? {} : { namespace: part.namespace }),
      name: part.name,
      ...(custom ? { input: '' } : { arguments: '' }),
    });
  }

  #openSearch({ block, id }: Extract<StreamPart, { type: 'tool-call-start' }>): Frame[] {
    return this.#add(block, 'search', {
      id: this.#itemId('tsc'),
      type: 'tool_search_call',
      status: 'in_progress',
      call_id: id,
      execution: 'client',
      arguments: {},
    });
  }

  #place(block: number): JsonObject {
    const open = this.#open.get(block);
    return { item_id: open?.item.id, output_index: open?.index };
  }

  /** Where in its item a block's text stands, as its events say it. */
  #within({ kind }: OpenItem): JsonObject {
    if (kind === 'reasoning') return { summary_index: 0 };
    return kind === 'text' || kind === 'refusal' ? { content_index: 0 } : {};
  }

  #grow(block: number, delta: string): Frame[] {
    const open = this.#open.get(block);
    if (open === undefined || delta === '') return [];
    if (open.kind === 'search') {
      // Its arguments are an object, sent once it is complete.
      open.text += delta;
      return [];
    }
    const { extra, type } = textEvents[open.kind];
    const place = { ...this.#place(block), ...this.#within(open) };
    const isFirst = open.text === '';
    open.text += delta;
    if (!isFirst || open.kind !== 'reasoning')
      return this.#event(`${type}.delta`, { ...place, delta, ...extra });
    const part = { type: 'summary_text', text: '' };
    return [
      ...this.#event('response.reasoning_summary_part.added', { ...place, part }),
      ...this.#event(`${type}.delta`, { ...place, delta, ...extra }),
    ];
  }

  /** The `.done` event of a block's text. */
  #wholeText(block: number, open: OpenItem): Frame[] {
    if (open.kind === 'search') return [];
    const { extra, field, type } = textEvents[open.kind];
    const name = open.kind === 'tool-call' ? { name: open.item.name } : {};
    const place = { ...this.#place(block), ...this.#within(open) };
    return this.#event(`${type}.done`, { ...place, ...name, [field]: open.text, ...extra });
  }

  #closeMessage(block: number): Frame[] {
    const open = this.#open.get(block);
    if (open === undefined) return [];
    const cited = open.cited.flatMap((citation) => this.#annotation(block, open, citation));
    const part = partOf(open.kind === 'refusal' ? 'refusal' : 'text', open.text, open.annotations);
    const place = { ...this.#place(block), content_index: 0 };
    return [
      ...cited,
      ...this.#wholeText(block, open),
      ...this.#event('response.content_part.done', { ...place, part }),
      ...this.#done(block, open, { ...open.item, status: 'completed', content: [part] }),
    ];
  }

  #closeReasoning(block: number, encrypted: EncryptedReasoning | null): Frame[] {
    const open = this.#open.get(block);
    if (open === undefined) return [];
    const part = { type: 'summary_text', text: open.text };
    const place = { ...this.#place(block), summary_index: 0 };
    const text =
      open.text === ''
        ? []
        : [
            ...this.#wholeText(block, open),
            ...this.#event('response.reasoning_summary_part.done', { ...place, part }),
          ];
    const item = {
      ...open.item,
      ...(encrypted?.format === 'openai-responses' && encrypted.id !== undefined ? { id: encrypted.id } : {}),
      status: 'completed',
      summary: open.text === '' ? [] : [part],
      ...(encrypted === null ? {} : { encrypted_content: contentOf(encrypted) }),
    };
    return [...text, ...this.#done(block, open, item)];
  }

  #closeCall(block: number, complete: boolean): Frame[] {
    const open = this.#open.get(block);
    if (open === undefined) return [];
    if (!complete) this.#cut = true;
    // A function without arguments has none written; clients parse what they get, and wait for a delta.
    const grown = open.kind === 'tool-call' && open.text === '' ? this.#grow(block, '{}') : [];
    const field = open.kind === 'custom' ? 'input' : 'arguments';
    const input = open.kind === 'search' ? argumentsOf(open.text) : open.text;
    const item = { ...open.item, status: complete ? 'completed' : 'incomplete', [field]: input };
    return [...grown, ...this.#wholeText(block, open), ...this.#done(block, open, item)];
  }

  #done(block: number, { index }: OpenItem, item: ResponsesItem): Frame[] {
    this.#open.delete(block);
    this.#output[index] = item;
    return this.#event('response.output_item.done', { output_index: index, item });
  }

  #annotate({ block, citation }: Extract<StreamPart, { type: 'citation' }>): Frame[] {
    const open = this.#open.get(block);
    if (open?.kind !== 'text') return [];
    if (citation.end !== null || citation.native.format === 'openai-responses')
      return this.#annotation(block, open, citation);
    open.cited.push(citation);
    return [];
  }

  /** The format can name addresses, and files of its own vendor. */
  #annotation(block: number, open: OpenItem, { end, native, start, title, url }: Citation): Frame[] {
    const own = native.format === 'openai-responses';
    if (!own && url === null) return [];
    const place = { start_index: start ?? 0, end_index: end ?? open.text.length };
    const annotation = own ? native.value : { type: 'url_citation', ...place, url, title: title ?? '' };
    const at = { ...this.#place(block), content_index: 0, annotation_index: open.annotations.length };
    open.annotations.push(annotation);
    return this.#event('response.output_text.annotation.added', { ...at, annotation });
  }

  #image(source: ImageSource): Frame[] {
    if (source.kind !== 'data') return [];
    const imageFields = { status: 'completed', result: source.base64 };
    const format = source.mediaType === '' ? {} : { output_format: source.mediaType.replace('image/', '') };
    return this.#hosted(
      { id: this.#itemId('ig'), type: IMAGE_CALL, ...imageFields, ...format },
      'generating',
    );
  }

  /** What a tool of the vendor's own did; `doing` is its word for the time between. */
  #hosted(item: ResponsesItem, doing: string): Frame[] {
    const output_index = this.#output.length;
    this.#output.push(item);
    const begun = { ...item, status: 'in_progress', ...('result' in item ? { result: null } : {}) };
    return [
      ...this.#event('response.output_item.added', { output_index, item: begun }),
      ...['in_progress', doing, 'completed'].flatMap((state) =>
        this.#event(`response.${item.type}.${state}`, { output_index, item_id: item.id }),
      ),
      ...this.#event('response.output_item.done', { output_index, item }),
    ];
  }

  #whole(item: ResponsesItem): Frame[] {
    const output_index = this.#output.length;
    this.#output.push(item);
    return [
      ...this.#event('response.output_item.added', { output_index, item }),
      ...this.#event('response.output_item.done', { output_index, item }),
    ];
  }

  #end({ reason, tier, usage }: Extract<StreamPart, { type: 'message-end' }>): Frame[] {
    const status = this.#cut || reason === 'length' || reason === 'context-full' || reason === 'policy';
    const event = status ? 'incomplete' : 'completed';
    const details = reason === 'policy' ? 'content_filter' : 'max_output_tokens';
    const responseObject = this.#response(event, status ? details : null, usage);
    const response = tier === undefined ? responseObject : { ...responseObject, service_tier: tier };
    return [...this.#event(`response.${event}`, { response }), doneFrame()];
  }

  #response(status: string, incomplete: string | null, usage: Usage | null): JsonObject {
    return {
      ...this.#shell,
      id: `resp_${this.#id}`,
      completed_at: status === 'completed' ? Math.floor(this.#context.startedAt / 1000) : null,
      status,
      incomplete_details: incomplete === null ? null : { reason: incomplete },
      output: status === 'in_progress' ? [] : listOf(this.#output),
      usage: usage === null ? null : usageOf(usage),
    };
  }
}

/** A writer for one stream. */
export function writer(context: AnswerContext): PartWriter {
  const { text }: ResponsesRequest = context.request;
  const target = withLateCitations(new ResponsesWriter(context), {
    takes: ({ native, url }) => url !== null || native.format === 'openai-responses',
    inOpenText: true,
    joint: '',
    structured: isStructured(objectOf<TextOption>(text).format),
  });
  return withTextFallback(target, { format: 'openai-responses', images: 'bytes' });
}

/** Encrypted reasoning of another format goes along in the place of this one's, for its maker to get it back. */
function contentOf(encrypted: EncryptedReasoning): string {
  return encrypted.format === 'openai-responses' ? encrypted.value : embedEncryptedReasoning(encrypted);
}

function partOf(kind: 'text' | 'refusal', text: string, annotations: JsonObject[]): JsonObject {
  return kind === 'text'
    ? { type: 'output_text', text, annotations: [...annotations], logprobs: [] }
    : { type: 'refusal', refusal: text };
}

/** Usage in the format's own way: input with everything cached in it, output with reasoning in it. */
function usageOf(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.input + usage.cacheRead + written + usage.audioInput + usage.imageInput;
  const output = usage.output + usage.reasoning + usage.audioOutput + usage.imageOutput;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      ...(usage.audioInput === 0 ? {} : { audio_tokens: usage.audioInput }),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...(usage.audioOutput === 0 ? {} : { audio_tokens: usage.audioOutput }),
    },
    total_tokens: input + output,
  };
}
