/**
 * Transcripts of every dialect (one folder each), in every cut.
 *
 * @module
 */
import { DIALECTS } from "./dialects.ts";
import { loadTranscripts, runTranscript } from "./suite.ts";

for (const { folder, dialect, special, only } of DIALECTS) {
  for (const [file, transcript] of await loadTranscripts(new URL(`../${folder}/`, import.meta.url))) {
    Deno.test(`${folder}/${file}: ${transcript.shows}`, () => runTranscript(transcript, dialect, special, only));
  }
}
