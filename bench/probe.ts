/**
 * Preloaded into a measured process where there is no /proc: answers the bench's question for its CPU time (µs)
 * and resident memory (bytes) over IPC, without keeping the process alive.
 */
process.on('message', (question) => {
  if (question !== 'bench:usage') return;
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage.rss() });
});
process.channel?.unref();
