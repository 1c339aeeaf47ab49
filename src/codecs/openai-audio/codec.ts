import { passed } from '../passthrough/codec.ts';
import { speech } from './speech.ts';
import { transcription } from './transcription.ts';

/** `/v1/audio/speech`: text to sound. */
export const openaiSpeech = passed('openai-speech', '/audio/speech', speech);

/** `/v1/audio/transcriptions`: sound to text in its own language. */
export const openaiTranscriptions = passed('openai-transcriptions', '/audio/transcriptions', transcription);

/** `/v1/audio/translations`: sound to text in English. */
export const openaiTranslations = passed('openai-translations', '/audio/translations', transcription);
