namespace Orleans;

/// <summary>
/// Marks an attribute of a constructor parameter of a grain whose argument is made by an
/// <see cref="Runtime.IAttributeToFactoryMapper{TMetadata}"/> of that attribute.
/// </summary>
public interface IFacetMetadata
{
}
