/**
 * `rapid-mlx convert FILE.gguf FOLDER`.
 *
 * @module
 */
import { convertGguf } from "../setup/convert/convert.ts";
import { openReport } from "../setup/report.ts";
import { print, toSize } from "./terminal.ts";

/** Converts and prints the folder. @throws {GgufError} If the file can't be converted; nothing is written then. */
export async function convert(file: string, folder: string): Promise<void> {
  const report = openReport();
  const { directory, tensorCount, weightBytes } = await convertGguf(file, folder, (doneBytes, totalBytes) => {
    report.progress(`${toSize(doneBytes)} of ${toSize(totalBytes)}`);
  });
  report.note(`${tensorCount} tensors, ${toSize(weightBytes)}`);
  print(directory);
}
