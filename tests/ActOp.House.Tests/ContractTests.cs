using Microsoft.CodeAnalysis;

namespace ActOp.House.Tests;

/// <summary>
/// The public programming model that applications compile against. Lists/orleans-api.txt has every type and member of it, a line each;
/// Lists/orleans-api-missing.txt has what our assemblies lack, under a line that says why. That the first list is the API of the real
/// assemblies is a test beside them (ActOp.Orleans.Tests).
/// </summary>
public class ContractTests
{
    private static readonly ReasonedList Missing = new("orleans-api-missing.txt");

    [Fact]
    public void What_the_contract_lists_exists_or_is_listed_as_missing_with_a_reason() => Missing.AreListed(Contract.Lacking(OwnTypes()));

    [Fact]
    public void Whatever_is_missing_stands_under_a_reason() => Findings.None(Missing.WithoutReason());

    private static Dictionary<string, List<INamedTypeSymbol>> OwnTypes() => Contract.TypesIn(
        [.. Directory.GetFiles(AppContext.BaseDirectory, "ActOp.*.dll").Where(
            static path => Repository.Has("src/" + Path.GetFileNameWithoutExtension(path)))]);
}
