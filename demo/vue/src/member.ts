import { ref } from 'vue';

/** Who has joined the club, by name. */
export const member = ref<string>();
