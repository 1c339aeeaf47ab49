import { passed } from '../passthrough/codec.ts';
import type { Codec } from '../wire-codec.ts';
import type { Usage } from '../wire-format.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

/** `/v1/audio/speech`: text to sound. */
export const openaiSpeech: Codec = {
  ...passed('openai-speech', '/audio/speech', speech),
  operation: 'speech',
  usualUsage: { audioOutput: 2_000 },
};

/** A minute of speech. */
const recording: Partial<Usage> = { audioInput: 2_000, output: 500, audioSeconds: 60 };

/** `/v1/audio/transcriptions`: sound to text in its own language. */
export const openaiTranscriptions: Codec = {
  ...passed('openai-transcriptions', '/audio/transcriptions', transcription),
  operation: 'transcription',
  usualUsage: recording,
};

/** `/v1/audio/translations`: sound to text in English. */
export const openaiTranslations: Codec = {
  ...passed('openai-translations', '/audio/translations', transcription),
  operation: 'translation',
  usualUsage: recording,
};
