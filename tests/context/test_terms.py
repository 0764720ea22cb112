"""What texts define."""

from __future__ import annotations

import pytest

from priompt_py.context import definitions
from priompt_py.context.terms import label_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        # Russian
        ("Оферта это предложение", ["оферт"]),
        ("Оферта - это предложение", ["оферт"]),
        ("ОФЕРТА ОЗНАЧАЕТ предложение", ["оферт"]),
        ("Неустойка представляет собой санкцию", ["неустойк"]),
        ("Срок определяется как период", ["срок"]),
        ("Стороны обозначают лица", ["сторон"]),
        ("«Срок оплаты» — это десять дней", ["срок оплат"]),
        ("Под термином «Товар» понимаются вещи", ["товар"]),
        ("Под «Товаром» понимаются вещи", ["товар"]),
        ("под безналичным расчётом понимают перевод", ["безналичн расчет"]),
        ("ООО «Ромашка» (далее — «Поставщик») и ИП", ["поставщик"]),
        ("Иванов (в дальнейшем именуемый «Покупатель»)", ["покупател"]),
        ("Иванов (далее также Заказчик)", ["заказчик"]),
        ("Определим термин Акцепт как согласие", ["акцепт"]),
        ("назовём «Базой» как есть", ["баз"]),
        ("В договоре оферта — это предложение", ["оферт"]),
        ("В настоящем договоре оферта — это предложение", ["оферт"]),
        ("В рамках настоящего Договора Сторона означает лицо", ["сторон"]),
        ("Если договор — это сделка", []),
        ("Термин оферта означает предложение", ["оферт"]),
        ("Привет! Оферта — это предложение", ["оферт"]),
        ("Как известно, оферта — это предложение", ["оферт"]),
        ("Счёт — это документ", ["счет"]),
        ("API — это интерфейс", ["api"]),
        ("config.yaml это файл", ["config yaml"]),
        ("Я думаю это хорошо", []),
        ("Верно ли понятие это", []),
        ("Договор этот подписан", []),
        ("и это важно", []),
        ("Один два три четыре пять означает много", []),
        # English
        ("Licensed Work means the program", ["licens work"]),
        ("The licensee shall mean you", ["license"]),
        ("Term refers to the period", ["term"]),
        ("The fee is defined as a sum", ["fee"]),
        ("Alpha denotes the level", ["alpha"]),
        ('"Licensor" is the owner', ["licensor"]),
        ("“Licensor” is an owner", ["licensor"]),
        ("Licensor is the owner", []),
        ('the owner (hereinafter "Owner")', ["owner"]),
        ('hereinafter collectively referred to as the "Parties"', ["parti"]),
        ("We define churn as loss", ["churn"]),
        ('define the term "net price" as a price', ["net price"]),
        ("In this Agreement licence means text", ["licenc"]),
        ("I think this means trouble", []),
        ("it means trouble", []),
        ("Having a friend doesn't mean much", []),
        ("Growth would mean this", []),
        ("x means y", []),
        ("X means y", ["x"]),
        ("meaning means", ["mean"]),
        ("5 means five", []),
        # Chinese
        ("“合同”是指双方的协议", ["合同"]),
        ("「合同」指的是双方的协议", ["合同"]),
        ("合同：双方签订的协议", ["合同"]),
        ("合同：短", []),
        ("注：双方签订的协议", []),
        # lines
        ("Fee: ten euro per month", ["fee"]),
        ("**Net price**: the price without tax", ["net price"]),
        ("- `timeout`: how long it waits", ["timeout"]),
        ("Fee: ten euro", []),
        ("Fee:ten euro per month", []),
        ("Итог: договор подписан вчера", []),
        ("Шаг 2: подписать этот договор", []),
        ("Note: see what is below", []),
        ("https://example.com: one two three", []),
        ("12: one two three", []),
        # several
        ("Fee: ten euro per month\nОферта — это x\nFee means money", ["fee", "оферт"]),
        ("", []),
        ("это", []),
        (": one two three", []),
    ],
)
def test_definitions(text: str, terms: list[str]) -> None:
    assert definitions(text) == terms


def test_labels() -> None:
    assert label_of("**Ann**: hello") == "ann"
    assert label_of("Счёт： x") == "счет"
    assert label_of("no label") is None
    assert label_of("10:30") is None
