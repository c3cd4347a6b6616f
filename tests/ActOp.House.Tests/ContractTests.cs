using System.Reflection;
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
    private static readonly ReasonedList OtherValues = new("orleans-api-values-otherwise.txt");

    [Fact]
    public void What_the_contract_lists_exists_or_is_listed_as_missing_with_a_reason() => Missing.AreListed(Contract.Lacking(OwnTypes()));

    [Fact]
    public void Whatever_is_missing_stands_under_a_reason() => Findings.None(Missing.WithoutReason());

    [Fact]
    public void Values_and_attributes_of_the_contract_are_those_of_Orleans_or_listed_with_a_reason()
    {
        var (own, owners) = ContractValues.Of(OwnTypes(), OwnPaths().Select(Assembly.LoadFrom));
        // What we have not at all is in the lists of members.
        var listed = ContractValues.Listed().Where(entry => owners.Contains(ContractValues.OwnerOf(entry))).ToList();
        var owned = listed.Select(ContractValues.OwnerOf).ToHashSet(StringComparer.Ordinal);
        OtherValues.AreListed(listed.Where(entry => !own.Contains(entry)).Concat(
            // An attribute of ours that is not there would warn where theirs does not.
            own.Where(entry => ContractValues.OwnerOf(entry).EndsWith("[Obsolete]", StringComparison.Ordinal)
                && !owned.Contains(ContractValues.OwnerOf(entry))).Select(static entry => "only here: " + entry)));
    }

    [Fact]
    public void Whatever_has_another_value_stands_under_a_reason() => Findings.None(OtherValues.WithoutReason());

    private static string[] OwnPaths() => [.. Directory.GetFiles(AppContext.BaseDirectory, "ActOp.*.dll").Where(
        static path => Repository.Has("src/" + Path.GetFileNameWithoutExtension(path)))];

    private static Dictionary<string, List<INamedTypeSymbol>> OwnTypes() => Contract.TypesIn(OwnPaths());
}
