import { setTimeout as delay } from 'node:timers/promises';
import { askNode, dialects, type Manner, type Outcome } from './client.ts';
import type { Plan } from './upstream.ts';
import type { Keys, World } from './world.ts';

const CLIENTS = 16;

export interface Load {
  /** Requests that were sent so far. */
  count(): number;
  /** No client sends another one. @returns how each request ended, when all have */
  end(): Promise<readonly Outcome[]>;
}

/** Clients that ask one gateway or the other, one request after the other. */
export function startLoad({ nodes, random }: World, { limited, open }: Keys): Load {
  const outcomes: Outcome[] = [];
  const state = { on: true, count: 0 };
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const client = async () => {
    while (state.on) {
      state.count += 1;
      const underBudget = random() < 0.15;
      const slowly = random() < 0.3;
      const manner: Manner = random() < 0.06 ? 'leaves' : random() < 0.06 ? 'slow' : 'prompt';
      const stream = manner !== 'prompt' || random() < 0.6;
      // Of a whole answer nothing can be cut.
      const cuts = stream && !underBudget && random() < 0.06;
      const plan: Plan = {
        nonce: `${underBudget ? 'limited' : 'open'}-${state.count}`,
        words: slowly ? 25 : 4,
        everyMs: slowly ? 60 : 0,
        cutAfter: cuts ? 3 : null,
      };
      const first = Math.floor(random() * nodes.length);
      const asked = {
        plan,
        key: underBudget ? limited : open,
        dialect: pick(dialects),
        model: cuts || underBudget ? 'chat/m-1' : pick(['chat/m-1', 'anth/m-1', 'mix']),
        stream,
        manner,
      };
      const outcome = await askNode({ ...asked, node: first, port: nodes[first]?.port ?? 0 });
      outcomes.push(outcome);
      // As behind a balancer: what nobody received is sent to the other one, as another request.
      await delay(outcome.ending === 'refused' ? 300 : random() * 150);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  return {
    count: () => state.count,
    async end() {
      state.on = false;
      await clients;
      return outcomes;
    },
  };
}
