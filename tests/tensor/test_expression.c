/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expressions: which index is where, and what is said of those that are wrong.
 */
#include "../unit/check.h"
#include "tensor_contraction/expression.h"

const char program_name[] = "test_expression";

static void check_term(const struct expression *expression,
                       const struct term *term, const char *letters)
{
    CHECK_EQ_INT(term->rank, (int)strlen(letters));
    for (int d = 0; d < term->rank; d++)
        CHECK_EQ_INT(expression->letter[term->index[d]], letters[d]);
}

static void indices_have_roles(void)
{
    struct expression expression;
    struct message message;
    CHECK(expression_parse(" R[ i,j ,k,l]+=A[i,a,j,b] *Beta[b,k,a,l] ",
                           &expression, &message));
    CHECK_EQ_TEXT(expression.c.name, "R");
    CHECK_EQ_TEXT(expression.b.name, "Beta");
    CHECK_EQ_INT(expression.indices, 6);
    CHECK(memcmp(expression.letter, "ijklab", 6) == 0);
    check_term(&expression, &expression.c, "ijkl");
    check_term(&expression, &expression.a, "iajb");
    check_term(&expression, &expression.b, "bkal");
    const enum role roles[] = {ROLE_A, ROLE_A,          ROLE_B,
                               ROLE_B, ROLE_CONTRACTED, ROLE_CONTRACTED};
    CHECK(memcmp(expression.role, roles, sizeof roles) == 0);
}

static void tensors_have_up_to_six_indices(void)
{
    struct expression expression;
    struct message message;
    CHECK(expression_parse("C[a,d,b,e,c,f] += A[x,a,y,b,z,c] * B[d,e,f,x,y,z]",
                           &expression, &message));
    CHECK_EQ_INT(expression.indices, INDICES_MAX);
    CHECK(expression_parse("C[k] += A[a] * B[a,k]", &expression, &message));
    CHECK(expression_parse("C[i,k] += A[i] * B[k]", &expression, &message));
}

static void what_is_wrong_has_a_place(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "column 1: a tensor has a name"},
        {"C", "column 2: it ends where '[' is wanted"},
        {"C[]", "column 3: an index is a letter"},
        {"C[i,1]", "column 5: an index is a letter"},
        {"C[i;j]", "column 4: ';' where ']' is wanted"},
        {"C[i,j] = A[i,j]", "column 8: '=' where '+=' is wanted"},
        {"C[i,j,i] += ", "column 7: index 'i' is in this tensor twice"},
        {"C[i,j] += A[i,a,a] * B[a,j]",
         "column 17: index 'a' is in this tensor twice"},
        {"C[i,j] += A[i,j] * B[j,a]",
         "column 5: index 'j' is in all three tensors"},
        {"C[i,x] += A[i,a] * B[a]", "column 5: index 'x' is in one tensor"},
        {"C[i] += A[i,x] * B[a]", "column 13: index 'x' is in one tensor"},
        {"C[i] += A[i,a] * B[a,x]", "column 22: index 'x' is in one tensor"},
        {"C[a,b,c,d,e,f,g]", "column 15: index 'g' is one too many: at most 6"},
        {"C[i] += A[i,a] * B[a] + D[a]", "column 23: it should end here"},
        {"Cabcdefghijklmnop[i]", "column 1: a tensor has a name of 1 to 15"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expression expression;
        struct message message = {""};
        CHECK(!expression_parse(cases[i].text, &expression, &message));
        CHECK_HAS_TEXT(message.text, cases[i].message);
    }
}

int main(void)
{
    RUN(indices_have_roles);
    RUN(tensors_have_up_to_six_indices);
    RUN(what_is_wrong_has_a_place);
    return check_result();
}
