import { type Part, type Task, TaskState } from '@a2a-js/sdk';
import { resolveUserScope, type TaskStore } from '@a2a-js/sdk/server';
import type { ChatMessage } from './skill.ts';

/** Tasks in memory, each seen by its owner alone. The oldest that have ended go when there are too many. */
export interface Tasks extends TaskStore {
  /** The messages of a context, the oldest first, bounded. */
  conversation(owner: string, contextId: string): ChatMessage[];
}

interface OwnedTask {
  owner: string;
  task: Task;
}

/** Of one owner, and of all together. */
const MAX_OWN = 50;
const MAX_TASKS = 300;
const MAX_PAGE = 100;
const DEFAULT_PAGE = 50;
/** The most turns of a conversation, and their characters, that a model is sent. */
const MAX_TURNS = 20;
const MAX_CHARACTERS = 100_000;

export function createTasks(): Tasks {
  const tasks = new Map<string, OwnedTask>();
  const ownBy = (owner: string) => [...tasks.values()].filter((owned) => owned.owner === owner);
  const makeRoom = (owner: string) => {
    let own = ownBy(owner).length;
    for (const owned of tasks.values()) {
      const tooMany = tasks.size > MAX_TASKS || (owned.owner === owner && own > MAX_OWN);
      if (!tooMany || !hasEnded(owned.task)) continue;
      tasks.delete(owned.task.id);
      if (owned.owner === owner) own -= 1;
    }
  };
  return {
    async save(task, context) {
      const owner = resolveUserScope(context);
      const isNew = !tasks.has(task.id);
      // Not copied: it is saved with each piece of an answer, and what is added later belongs to it as well.
      tasks.set(task.id, { owner, task });
      if (isNew) makeRoom(owner);
    },
    async load(id, context) {
      const owned = tasks.get(id);
      return owned?.owner === resolveUserScope(context) ? copyOf(owned.task) : undefined;
    },
    async list({ contextId, includeArtifacts, pageSize = DEFAULT_PAGE, pageToken, status }, context) {
      const fitting = ownBy(resolveUserScope(context))
        .map(({ task }) => task)
        .filter((task) => contextId === '' || task.contextId === contextId)
        .filter((task) => !status || task.status?.state === status)
        .reverse();
      const start = /^\d{1,9}$/.test(pageToken) ? Number(pageToken) : 0;
      const size = Math.min(MAX_PAGE, Math.max(1, pageSize));
      const page = fitting.slice(start, start + size).map(copyOf);
      const end = start + page.length;
      return {
        tasks: includeArtifacts === true ? page : page.map((task) => ({ ...task, artifacts: [] })),
        nextPageToken: end < fitting.length ? String(end) : '',
        pageSize: page.length,
        totalSize: fitting.length,
      };
    },
    conversation(owner, contextId) {
      const messages = ownBy(owner)
        .filter(({ task }) => task.contextId === contextId)
        .flatMap(({ task }): ChatMessage[] => {
          const [question, answer] = [textIn(task.history[0]), textIn(task.artifacts[0])];
          if (question === '' || answer === '') return [];
          return [
            { role: 'user', text: question },
            { role: 'assistant', text: answer },
          ];
        });
      return bounded(messages);
    },
  };
}

/** Those under way are bounded by themselves, and must be there when they end. */
function hasEnded({ status }: Task): boolean {
  switch (status?.state) {
    case TaskState.TASK_STATE_COMPLETED:
    case TaskState.TASK_STATE_FAILED:
    case TaskState.TASK_STATE_CANCELED:
    case TaskState.TASK_STATE_REJECTED:
      return true;
    default:
      return false;
  }
}

/** A task with the pieces of its answer's text in one. */
function copyOf(task: Task): Task {
  const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: joined(artifact.parts) }));
  return structuredClone({ ...task, artifacts });
}

function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last?.content?.$case === 'text' && part.content?.$case === 'text')
      result.splice(-1, 1, {
        ...last,
        content: { $case: 'text', value: last.content.value + part.content.value },
      });
    else result.push(part);
  }
  return result;
}

/** The newest turns that fit, beginning with a question. */
function bounded(messages: readonly ChatMessage[]): ChatMessage[] {
  let first = messages.length;
  for (let characters = 0; first >= 2 && messages.length - first < MAX_TURNS; first -= 2) {
    characters += (messages[first - 1]?.text.length ?? 0) + (messages[first - 2]?.text.length ?? 0);
    if (characters > MAX_CHARACTERS) break;
  }
  return messages.slice(first);
}

/** The text of a message or an artifact. */
export function textIn(holder: Pick<Task['artifacts'][number], 'parts'> | undefined): string {
  return (holder?.parts ?? [])
    .flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
    .join('');
}
