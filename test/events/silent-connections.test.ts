import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from '../../src/events/channels/channel.ts';
import type { ChannelScheme } from '../../src/events/config/config.ts';
import { backends } from '../endurance/backends.ts';
import { hasMosquitto, startMosquitto } from '../support/brokers/mosquitto.ts';
import { openBrokerChannels } from '../support/events/broker-channel.ts';
import { testEvent } from '../support/events/channel-contract.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { delayedPort } from '../support/upstream/delayed-port.ts';

const LEASE_MS = 60_000;
const EVERY_MS = 100;

const servers: readonly (Pick<(typeof backends)[number], 'installed' | 'start'> & {
  scheme: ChannelScheme;
})[] = [...backends, { scheme: 'mqtt', installed: hasMosquitto, start: startMosquitto }];

/** Receives and settles everything, until it is stopped. */
function receiveAll(channel: Channel) {
  const ids = new Set<string>();
  const state = { on: true };
  const receiving = (async () => {
    while (state.on) {
      const deliveries = await channel.receive('x', 10, LEASE_MS).catch(() => []);
      for (const { content, id } of deliveries) {
        if (content.ok) ids.add(content.event.attributes.id);
        await channel.ack('x', id).catch(() => {});
      }
      await delay(EVERY_MS);
    }
  })();
  return {
    ids,
    async stop() {
      state.on = false;
      await receiving;
    },
  };
}

describe('a channel whose connections are lost silently', { concurrency: true }, () => {
  for (const { installed, scheme, start } of servers)
    it(`publishes and receives again (${scheme})`, { skip: !installed }, async (t) => {
      const server = await start(temporaryFolder(t));
      t.after(server.stop);
      const port = await delayedPort(() => server.port);
      t.after(port.close);
      const url = server.url.replace(`:${server.port}`, `:${port.port}`);
      const { channel } = await openBrokerChannels(t, { scheme, url });
      await channel.subscribe('x');
      const received = receiveAll(channel);
      await channel.publish(testEvent('before'));
      await waitFor('an event', () => received.ids.has('before'));
      port.silence();
      const begun = performance.now();
      // Again and again: a socket to which something is written is not idle.
      const sending = setInterval(() => void channel.publish(testEvent('after')).catch(() => {}), EVERY_MS);
      await waitFor('an event after that', () => received.ids.has('after'));
      clearInterval(sending);
      await received.stop();
      t.diagnostic(`${scheme}: after ${Math.round(performance.now() - begun)} ms`);
    });
});
