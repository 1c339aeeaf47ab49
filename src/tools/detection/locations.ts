import { locate, type Machine } from '../machine.ts';
import type { ConfigFile, Recipe } from '../tool.ts';
import { settingsFolders } from './editors.ts';

/** A configuration file of a recipe, and where it is, or would be. */
export interface LocatedFile {
  file: ConfigFile;
  path: string;
}

/** The files of a recipe on a machine, in its order. A file of editors is there once for each of them. */
export async function locateFiles({ files }: Recipe, machine: Machine): Promise<LocatedFile[]> {
  const located = await Promise.all(
    files.map(async (file) => {
      if (file.editorsWith === undefined) return [{ file, path: locate(file, machine) }];
      const folders = await settingsFolders(file.editorsWith, machine);
      return folders.map((folder) => ({ file, path: locate({ ...file, folders: [folder] }, machine) }));
    }),
  );
  return located.flat();
}
