<?php

// >>> the app's server
function sign(string $secret, string $primaryKey): string
{
    return hash_hmac('sha256', $primaryKey, $secret);
}
// <<<

foreach (json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR) as $vector) {
    echo sign($vector['secret'], $vector['primaryKey']), "\n";
}
