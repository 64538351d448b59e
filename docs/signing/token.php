<?php

// >>> the app's server
function encode(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

function signIdentity($secret, $keyId, $audience, $primaryKey, $expiresIn, array $properties): string
{
    $now = time();
    $header = ['alg' => 'HS256', 'kid' => $keyId, 'typ' => 'JWT'];
    $claims = ['sub' => $primaryKey, 'aud' => $audience, 'iat' => $now, 'exp' => $now + $expiresIn];
    $claims['properties'] = (object) $properties; // without the cast, PHP writes an empty array as a list
    $parts = array_map(fn ($part) => encode(json_encode($part, JSON_THROW_ON_ERROR)), [$header, $claims]);
    $signed = implode('.', $parts);
    return $signed . '.' . encode(hash_hmac('sha256', $signed, $secret, true));
}
// <<<

[, $secret, $keyId, $audience, $primaryKey, $expiresIn, $properties] = $argv;
echo signIdentity($secret, $keyId, $audience, $primaryKey, (int) $expiresIn, json_decode($properties, true)), "\n";
