"""Given names, surnames, streets and sentences to combine.

Knows common words, most frequent first. Ignores real people: a person is a chance combination.
"""

from __future__ import annotations

import unicodedata

from celosia.demo.synthetic.draws import Words


def _ascii_words(words: Words) -> Words:
    """The same list in lower case without accents, for e-mail addresses."""
    folded = (unicodedata.normalize("NFD", word.lower()) for word in words.words)
    return Words(["".join(c for c in word if "a" <= c <= "z") for word in folded])


WOMEN = Words(
    """
María Ana Camila Francisca Valentina Carolina Claudia Patricia Daniela Javiera Constanza Catalina Fernanda Isidora
Antonia Sofía Carmen Rosa Paula Andrea Marcela Verónica Paola Sandra Natalia Josefa Martina Florencia Emilia Isabel
Margarita Teresa Gabriela Macarena Bárbara Alejandra Ximena Lorena Mónica Soledad Pilar Cecilia Elena Silvia Gladys
Norma Olga Juana Luisa Marta Inés Amanda Agustina Trinidad Maite Julieta Rocío Belén Tamara Nicole Yasna Ingrid
Eliana Berta Irma Elba Noemí Ángela Débora Aurora Victoria Beatriz Lucía Gloria Nancy Raquel Pía Millaray Ayelén
""".split()
)
MEN = Words(
    """
José Juan Luis Carlos Jorge Manuel Francisco Cristián Felipe Sebastián Matías Benjamín Vicente Martín Diego Nicolás
Rodrigo Pedro Víctor Sergio Mario Héctor Ricardo Fernando Eduardo Miguel Patricio Claudio Marcelo Raúl Daniel Andrés
Pablo Gabriel Ignacio Joaquín Tomás Agustín Lucas Maximiliano Cristóbal Gonzalo Alejandro Mauricio Hernán Roberto
Óscar Hugo Jaime Guillermo Gustavo Rubén Ángel Segundo Ramón Alfredo Enrique Iván Álvaro Javier Alonso Gaspar Mateo
Santiago Renato León Facundo Bastián Kevin Orlando Osvaldo Eugenio René Julio Rolando Arturo Germán Nahuel Lautaro
""".split()
)
SURNAMES = Words(
    """
González Muñoz Rojas Díaz Pérez Soto Contreras Silva Martínez Sepúlveda Morales Rodríguez López Fuentes Hernández
Torres Araya Flores Espinoza Valenzuela Castillo Tapia Reyes Gutiérrez Castro Pizarro Álvarez Vásquez Sánchez
Fernández Ramírez Carrasco Gómez Cortés Herrera Núñez Jara Vergara Rivera Figueroa Riquelme García Miranda Bravo Vera
Molina Vega Campos Sandoval Orellana Cárdenas Olivares Alarcón Gallardo Ortiz Garrido Salazar Guzmán Henríquez
Saavedra Navarro Aguilera Parra Romero Aravena Vargas Vidal Peña Lagos Cáceres Acevedo Toro Leiva Escobar Godoy Bustos
Salinas Zúñiga Poblete Cifuentes Maldonado Venegas Donoso Ruiz Farías Moreno Yáñez Ávila Medina Cabrera Ibáñez Palma
Aguilar Catalán Valdés Alvarado Quezada Arias Mora Carvajal Pino Barrera Ulloa Salas Ortega Lara Cid Arancibia Santana
Cornejo Mella Inostroza Villarroel Barría Oyarzún Mansilla Huenchumán Curilén Painemal Quispe Mamani Condori Colque
Antilef Millán Nahuelpán Catrileo Llanquín Ñancupil Huaiquil Lincoñir Marilaf Coñuecar
""".split()
)
PLAIN_WOMEN, PLAIN_MEN, PLAIN_SURNAMES = _ascii_words(WOMEN), _ascii_words(MEN), _ascii_words(SURNAMES)

STREET_KINDS = Words(["Calle", "Avenida", "Pasaje", "Camino", "Población"], [40, 25, 25, 5, 5])
STREETS = Words(
    [
        f"{article} {noun}".strip()
        for article, nouns in (
            (
                "Los",
                "Aromos Boldos Canelos Copihues Espinos Maitenes Naranjos Olivos Peumos Robles Sauces Álamos Ñirres",
            ),
            (
                "Las",
                "Acacias Araucarias Camelias Dalias Encinas Lilas Palmas Rosas Violetas Gaviotas Golondrinas Peñas",
            ),
            ("El", "Arrayán Cerro Ciprés Estero Manzano Molino Mirador Olivar Parque Puente Quillay Salto Sol Valle"),
            ("La", "Aurora Capilla Cantera Compañía Colina Estrella Laguna Loma Pradera Ribera Unión Viña Ñipa"),
            ("", "Central Esperanza Estación Independencia Libertad Norte Oriente Poniente Porvenir Progreso Sur Tres"),
        )
        for noun in nouns.split()
    ]
)
UNITS = Words(["", ", depto 12", ", depto 304", ", casa 7", ", block B depto 21", ", parcela 4"], [74, 6, 6, 8, 4, 2])
MAIL_HOSTS = Words(["correo.example", "buzon.example", "mensajes.example", "trabajo.example"], [50, 25, 15, 10])

PLACES = Words(
    """
Alerces Arrayanes Avellanos Boldos Canelos Coigües Copihues Lengas Lirios Maitenes Notros Olivillos Peumos Quillayes
Raulíes Robles Tamarugos Ulmos Algarrobos Chañares Espinos Litres Mañíos Pataguas Pimientos Queñoas Tepas Temos Tineos
""".split()
)

SENTENCES = Words(
    [
        "Evolución favorable, alta con indicaciones.",
        "Control en consultorio en 7 días.",
        "Se solicita interconsulta; queda pendiente informe.",
        "Paciente refiere dolor; cede con analgesia.",
        "Sin complicaciones durante la estadía.",
        "Curación día por medio; retiro de puntos a los 10 días.",
        "Se educa a la familia sobre signos de alarma.",
        'Señala: "no tomo mis remedios"; se refuerza tratamiento.',
        "Ingresa por urgencia, derivado desde atención primaria.",
        "Exámenes normales al alta; reposo relativo.",
        'Diagnóstico de ingreso "en estudio"; se ajusta al alta.',
        "Antecedente de hipertensión; continúa terapia habitual.",
        "Vive solo; se activa red de apoyo.",
        "Se entrega licencia médica por 11 días.",
        "Tolera régimen liviano y deambula sin asistencia.",
        "Rechaza hospitalización domiciliaria; firma documento.",
        "Traslado en ambulancia; acompaña funcionario.",
        "Niega alergias; niega tabaco.",
    ]
)
OPENINGS = Words(["", '"URGENTE"; ', '"GES" ', "Obs.: ", "Epicrisis; "], [80, 5, 3, 7, 5])
RELATIVES = Words(["su pareja", "un familiar", "su cónyuge", "su contacto", "quien cuida al paciente"])
