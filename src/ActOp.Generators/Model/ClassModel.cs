namespace ActOp.Generators.Model;

/// <summary>What a class is registered as, if anything: a grain, or a type that peers may name (an exception, an enum).</summary>
internal sealed record ClassModel(NamedTypeModel? Grain, NamedTypeModel? Named)
{
    public bool IsEmpty => Grain is null && Named is null;
}
