namespace ActOp.Generators.Model;

/// <summary>What a class is registered as, if anything.</summary>
internal sealed record ClassModel(NamedTypeModel? Grain, NamedTypeModel? Exception)
{
    public bool IsEmpty => Grain is null && Exception is null;
}
