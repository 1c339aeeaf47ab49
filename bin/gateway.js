#!/usr/bin/env node
/*
 * Starts the gateway: src/ in a clone, dist/ in the published package.
 * This file alone must be readable by any Node.js, so that an old one can say what is wrong: no `import`
 * statements, no `require`, no syntax newer than `import()`.
 */
(function () {
  var parts = process.versions.node.split('.').map(Number);
  var major = parts[0];
  var supported = major >= 24 || (major === 22 && (parts[1] > 22 || (parts[1] === 22 && parts[2] >= 2)));
  if (!supported) {
    process.stderr.write(
      'gateway: needs Node.js 24 or newer (or 22.22.2 or a later 22), and this is ' +
        process.version +
        ': install a newer one, or in a clone run npm install, which brings its own.\n',
    );
    process.exitCode = 1;
    return;
  }

  hideWarning('SQLite is an experimental feature');
  // Not by `import()`, for which Node.js loads what stands behind each of their exports.
  var module = process.getBuiltinModule('node:module');
  var fs = process.getBuiltinModule('node:fs');
  var os = process.getBuiltinModule('node:os');
  var path = process.getBuiltinModule('node:path');
  var cache = process.env.NODE_COMPILE_CACHE || cacheFolder(fs, os, path);
  if (module.enableCompileCache && cache !== null) module.enableCompileCache(cache);
  var here = path.dirname(fs.realpathSync(process.argv[1]));
  var inClone = fs.existsSync(path.join(here, '..', 'src', 'cli', 'main.ts'));
  if (inClone) import('../src/cli/main.ts');
  else import('../dist/cli/main.js');

  /**
   * A folder of the user's own: the default is a well-known name below the temporary folder, which anybody can create
   * first. Null where there is none that can be written: a start without a cache is slower, and otherwise the same. It is
   * made here, for Node.js never returns from making one in a place like /proc.
   */
  function cacheFolder(fs, os, path) {
    var folder = null;
    try {
      folder = path.join(
        process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'),
        'modelgate',
        'compiled',
      );
      if (!path.isAbsolute(folder)) return null;
      makeFolder(fs, path, folder);
      fs.accessSync(folder, fs.constants.W_OK);
      return folder;
    } catch (_) {
      return null;
    }
  }

  function makeFolder(fs, path, folder) {
    if (fs.existsSync(folder)) return;
    makeFolder(fs, path, path.dirname(folder));
    fs.mkdirSync(folder, { mode: 448 });
  }

  /** Node.js 22 calls node:sqlite experimental on every start; other warnings stay. */
  function hideWarning(start) {
    var emitWarning = process.emitWarning;
    process.emitWarning = function (warning) {
      if (String(warning).indexOf(start) === 0) return;
      emitWarning.apply(process, arguments);
    };
  }
})();
