"""A public key as people compare it: in full, in groups of four digits, and as sixteen words to be read aloud.

Knows digits and words. Ignores whose key it is. The words stand for 128 bits of the key's digest: nobody can make a
second key that reads the same. One list serves every language, or two readers could not compare. Short words
without accents; no two begin with the same three letters.
"""

from __future__ import annotations

import hashlib

_WORDS = """
abeja acero adobe agua ajo alba amigo ancla apio arena asno atlas avena azul babor bahia
balde banco barco batea bazar beca besar bicho bloque boca bodega bolsa bosque bota brasa breve
brisa bucle bueno bufete buque burro buzo cabra cacao cadena caja calma camino canto caoba carro
casa cebra cedro cena cerro cesta chal cielo cifra cima cinta cisne citrus clavo cobre coche
codo cofre coral cosa coyote crema cueva cuna curva dado dalia danza datil dedo delta dental
deuda dia digno dique disco doble dorado ducha duna duque ebano eco edad eje elegir emitir
encina epoca erizo escoba estufa etapa exito faena falda fango faro fauna fecha feria ficha fideo
fiesta fila finca flor foca fogata fondo forma foto frase fresa fruta fuego funda gaita gallo
gamba garza gato gaviota gente girar globo goma gordo gota grano gripe grupo guante guerra guinda
gusto habla hacha halcon haya hebra helado hielo higo hilo hoja honda horno huerta humo ibis
icono idea iglesia imagen indigo isla jabon jade jamon jardin jaula jefe jinete jirafa joya juego
junco jurel justo kilo koala labio ladera lago lana lapiz largo lata lavar leche legua lejos
lento letra libro liga limon linea lirio lobo lomo luna llave lluvia maceta madera mago malva
mano mapa marea mayo medir melon menta mesa metal miel milla mina mirlo mochila molino mono
mosca muelle mundo museo nabo nacer naipe naranja nave neblina nido nieve noble noche nogal nube
nueve pato oasis obra oceano oferta olivo onda opalo orilla oso otono oveja pala pan papel
"""
WORDS = tuple(_WORDS.split())
N_WORDS = 16
_GROUP = 4


def grouped_key(key: str) -> str:
    """A public key in full, in groups of four digits."""
    return " ".join(key[start : start + _GROUP] for start in range(0, len(key), _GROUP))


def spoken_key(key: str) -> str:
    """A public key as sixteen words."""
    digest = hashlib.sha256(key.encode("ascii", errors="replace")).digest()
    return " ".join(WORDS[byte] for byte in digest[:N_WORDS])


def fingerprint(key: str) -> str:
    """How a key is compared: its words, and all of it in digits."""
    return f"{spoken_key(key)} ({grouped_key(key)})"
